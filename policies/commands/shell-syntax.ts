/** The only file that imports the shell parser. The parser's tree is walked with an allow-list of node types (walk-script.ts). */
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
