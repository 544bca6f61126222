import * as z from 'zod'

// By default, zod compiles its parsers. In a program that parses little and then exits, compiling takes more time than it saves. Import this module
// before any schema is created, because zod reads the setting when it creates a schema. The packages don't import it, because it would apply to the
// whole process that embeds them.
z.config({ jitless: true })
