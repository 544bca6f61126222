import * as z from 'zod'

// A compiled parser costs more than it saves in a program that parses little and exits. Import this before any schema is made, which is
// when zod checks the setting; the packages don't import it, since the setting applies to the whole process that embeds them.
z.config({ jitless: true })
