/**
 * The format as a Lark grammar, for models whose freeform tools can have a grammar. Strict mode accepts this language, and also CRLF line endings and
 * an `*** Environment ID:` line below the first. A test compares the grammar with the rules of the parser.
 *
 * @example const format = { type: 'grammar', syntax: 'lark', definition: patchGrammar } // of a tool, for a provider that supports grammars
 */
export const patchGrammar = String.raw`start: begin_patch operations
operations: (add_file | delete_file | update_file)+ end_patch
add_file: add_header added_line*
delete_file: delete_header
update_file: update_header (move_to chunks? | chunks)
chunks: chunk+
chunk: anchor* chunk_line+ end_of_file?

begin_patch: "*** Begin Patch" LF
end_patch: "*** End Patch" LF?
add_header: "*** Add File: " path LF
delete_header: "*** Delete File: " path LF
update_header: "*** Update File: " path LF
move_to: "*** Move to: " path LF
added_line: "+" /(.*)/ LF
anchor: ("@@" | "@@ " /(.+)/) LF
chunk_line: ("+" | "-" | " ") /(.*)/ LF
end_of_file: "*** End of File" LF
path: /(.*\S.*)/

%import common.LF
`
