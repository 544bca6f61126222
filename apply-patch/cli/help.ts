/** What `apply-patch undo` does, and what when it can't. */
export const undoHelp = `
Takes back the last patch that was applied to this very directory (--root), byte for byte; run it
again for the patch before. If a file was changed since, nothing is done and the file is named:
apply-patch --reverse < FILE then takes the patch back by its text.
`

/** When there is something to recover, and what is given up with `--abandon`. */
export const recoverHelp = `
A run that was killed leaves a journal. The next run in the same tree puts its files in order by
itself; recover does only that. If somebody changed the files in between, nothing is done and they
are named: put them back and recover again, or recover --abandon, which forgets the journal and
leaves every file as it is, also hidden .apply-patch-* files that hold the old or new content.
`

/** What a reader needs who has never seen the format. */
export const helpText = `
A patch looks like this; every path is relative to the root, every line of a body has a mark:

  *** Begin Patch
  *** Add File: docs/new.md
  +# A new file: every line starts with +
  *** Update File: src/app.py
  *** Move to: src/main.py           (optional: renames the file; no chunk is needed then)
  @@ def greet():                    (optional: a whole line above the place, to find it)
       name = ask()                  (context: one space, then the line as it is)
  -    print("Hi")                   (-: a line to remove)
  +    print("Hello")                (+: a line to add)
  @@                                 (the next place in the same file, further down)
  -last line
  +new last line
  *** End of File                    (optional: the old lines above end the file)
  *** Delete File: src/old.py
  *** End Patch

  Old lines (context and -) must stand in the file one after the other; about three lines of
  context make a place unique. Only + lines: inserted right under the @@ line, else at the end.
  Line numbers are not needed. Several @@ lines in a row narrow: class first, then method.

Examples:
  apply-patch < change.patch            apply it: all of it, or nothing
  apply-patch --check --diff < c.patch  show what it would do, change nothing
  apply-patch --reverse < change.patch  take an applied patch back by its text
  apply-patch undo                      take the last applied patch back from its journal
  apply-patch recover                   put in order what a crash left

Exit codes: 0 applied, 1 malformed or not applied (nothing was changed), 2 wrong usage.
Files keep their line endings, byte-order mark, final newline (or its absence) and mode.
Paths that leave the root, and anything under .git, are refused.
`
