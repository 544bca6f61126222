import * as z from 'zod'

// A compiled parser costs more than it saves in a program that parses little and exits. Import this before any schema is created, because
// zod checks the setting then. The packages don't import it, because the setting applies to the whole process that embeds them.
z.config({ jitless: true })
