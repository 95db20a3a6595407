import {
  type BinaryOperationNode,
  ColumnNode,
  type OperationNode,
  ReferenceNode,
  SqliteQueryCompiler,
} from 'kysely';

/** Columns in the conditions of partial indexes that statements compare with a text. */
export const LITERAL_COLUMNS: ReadonlySet<string> = new Set([
  ...['state', 'status', 'network_status', 'ssl_status'],
  ...['environment', 'runtime', 'step'],
]);

/**
 * Compiles statements that SQLite plans once. With a bare `?` beside an `=`, it plans a join again after each binding (`sqlite3ExprIsInteger`
 * asks for the value, since 3.50), which takes longer than most joins run. It does not look through a unary plus, which changes nothing else.
 * A value that a partial index needs must therefore be in the text: booleans, and texts of {@link LITERAL_COLUMNS}.
 */
export class SqliteCompiler extends SqliteQueryCompiler {
  /** The literals in the comparison that is being compiled. */
  #literals: 'none' | 'booleans' | 'texts' = 'none';

  protected override getCurrentParameterPlaceholder(): string {
    return '+?';
  }

  protected override visitBinaryOperation(node: BinaryOperationNode): void {
    const outer = this.#literals;
    this.#literals = isLiteralColumn(node.leftOperand) ? 'texts' : 'booleans';
    super.visitBinaryOperation(node);
    this.#literals = outer;
  }

  protected override appendValue(value: unknown): void {
    const isLiteral =
      (this.#literals !== 'none' && typeof value === 'boolean') ||
      (this.#literals === 'texts' && typeof value === 'string');
    if (isLiteral) this.appendImmediateValue(value);
    else super.appendValue(value);
  }
}

function isLiteralColumn(node: OperationNode): boolean {
  return ReferenceNode.is(node) && ColumnNode.is(node.column) && LITERAL_COLUMNS.has(node.column.column.name);
}
