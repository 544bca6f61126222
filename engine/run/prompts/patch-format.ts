/** The description of the patch format, for models that were not trained on it. */
export const patchFormat = `# The patch format
A patch for apply_patch looks like this:

*** Begin Patch
*** Update File: src/greet.js
@@ export function greet(name) {
   // Politeness first.
-  return 'hello'
+  return \`hello \${name}\`
 }
*** Add File: src/index.js
+export { greet } from './greet.js'
*** Delete File: src/old.js
*** End Patch

- Paths are relative to the working directory. "*** Move to: NEW/PATH" right below an Update File line renames the file.
- In an update, every line begins with one character: a space for context, "-" for a removed line, "+" for an added line. In an added
  file it is always "+".
- Copy context exactly from the file, including indentation. Three lines above and below are enough. If they occur more than once, put an
  earlier line, such as the head of the function, after "@@". There are no line numbers.`
