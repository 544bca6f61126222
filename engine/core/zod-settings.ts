import * as z from 'zod'

// A parser compiled for a schema costs more than it saves a program that parses little and ends. To be imported before any schema is
// made, which is when zod asks; not by the packages, since the setting holds for the whole process of whoever embeds them.
z.config({ jitless: true })
