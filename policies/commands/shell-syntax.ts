/** Re-exports the shell parser, which no other file may import. walk-script.ts walks the parser's tree with an allow-list of node types. */
export { parse as parseShell } from 'unbash'
export type {
  AndOr,
  ArithmeticExpression,
  Assignment,
  Case,
  Command,
  CommandNode,
  CompoundList,
  DoubleQuotedChild,
  HereDoc,
  If,
  ParameterExpansionPart,
  ParsedScript,
  PipelineNode,
  Redirection,
  Statement,
  TestExpression,
  Word,
  WordPart,
} from 'unbash'
