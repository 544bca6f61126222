/** Help for `apply-patch undo`: what it does, and what happens if the patch can't be reverted. */
export const undoHelp = `
Reverts the last patch that was applied to this directory (--root), byte for byte; run undo
again to revert the patch before that. If a file has changed since the patch was applied, undo changes nothing and names the file;
apply-patch --reverse < FILE can still revert the patch by its text.
`

/** Help for `recover`: when there is something to recover, and what `--abandon` gives up. */
export const recoverHelp = `
If apply-patch is killed, it leaves a journal. The next apply-patch in the same tree restores or completes the files automatically;
apply-patch recover does only that. If somebody changed the files after the crash, recover changes nothing and names them: restore these
files and run recover again, or run recover --abandon, which forgets the journal and
leaves every file as it is, including hidden .apply-patch-* files that hold the old or new content.
`

/** Help for `prune`: what is kept, and where. */
export const pruneHelp = `
For undo, the last 20 patches of a tree are kept, at most 128 MiB, and those of 100 trees, about 1 GiB, in
$XDG_STATE_HOME/portcullis or ~/.local/state/portcullis; older ones are removed automatically.
apply-patch prune removes those of this directory (--root), and with --all those of all directories.
What a crash left for recover stays.
`

/** An introduction to the format for readers who have never seen it. */
export const helpText = `
A patch is a list of operations between two marker lines. Paths start from the root (--root, or
the directory you are in). This one has one operation of each kind:

  *** Begin Patch
  *** Add File: docs/new.md
  +# A title
  +
  +Each line of a new file has a + before it, even an empty line.
  *** Update File: src/app.py
  @@ def greet():
       name = ask()
  -    print("Hi")
  +    print("Hello")
       return name
  @@
  -last line
  +new last line
  *** Update File: src/old_name.py
  *** Move to: src/new_name.py
  *** Delete File: src/unused.py
  *** End Patch

In an update each @@ starts a chunk: one place in the file. The first character of each line in a chunk is
its mark, and what follows is the line exactly as the file has it, its indentation included:

  a space   context: the line is in the file, and stays
  -         the line is in the file, and is removed
  +         the line is new

  Context and - lines together must be in the file, one after the other; that is how the place
  is found. About three lines of context above and below make it unique. There are no line
  numbers. Chunks come in the order of the file.

  "@@ def greet():" means to search below that line, which must be a whole line of the file; it may be
  repeated for the next chunk below it. Several such lines in a row narrow the search: first the class, then the
  method. "@@" alone searches from where the previous chunk ended. If several places fit, the first is used,
  with a warning (--strict refuses). A chunk of only + lines is inserted right below its "@@ ..." line or, if
  "@@" stands alone, added at the end of the file.

  "*** Move to: path", right under "*** Update File: path", renames the file; chunks may follow.
  "*** End of File", as the last line of a chunk, says that its old lines are the last lines of the file.

Examples:
  apply-patch < change.patch            apply it completely, or not at all
  apply-patch <<'EOF'                   the same from a shell; the quotes keep $ and \` as they are
  apply-patch --check --diff < c.patch  show what it would do, change nothing
  apply-patch --reverse < change.patch  revert an applied patch by its text
  apply-patch undo                      revert the last applied patch from its journal
  apply-patch recover                   repair what a crash left
  apply-patch prune --all               forget all applied patches, to free disk space

Exit codes: 0 done, 1 malformed or not applied (the error says so if anything was changed), 2 wrong usage,
130 or 143 interrupted.
Files keep their line endings, byte-order mark, final newline (or its absence) and mode. In a file
that isn't UTF-8, text that isn't ASCII is added only if the file's encoding is declared, in that encoding.
Paths that leave the root, and anything under .git, are refused.
`
