import {
  type BinaryOperationNode,
  ColumnNode,
  type OperationNode,
  ReferenceNode,
  SqliteQueryCompiler,
} from 'kysely';

/** Columns in the conditions of partial indexes that statements compare with a text. */
export const LITERAL_COLUMNS: ReadonlySet<string> = new Set(['state', 'status']);

/**
 * Compiles statements that SQLite plans once. With a bare `?` beside an `=`, it plans a join again after each binding (`sqlite3ExprIsInteger`
 * asks for the value, since 3.50), which takes longer than most joins run. It does not look through a unary plus, which changes nothing else.
 * A value that a partial index needs must therefore be in the text.
 */
export class SqliteCompiler extends SqliteQueryCompiler {
  #isLiteral = false;

  protected override getCurrentParameterPlaceholder(): string {
    return '+?';
  }

  protected override visitBinaryOperation(node: BinaryOperationNode): void {
    const outer = this.#isLiteral;
    this.#isLiteral = isLiteralColumn(node.leftOperand);
    super.visitBinaryOperation(node);
    this.#isLiteral = outer;
  }

  protected override appendValue(value: unknown): void {
    if (this.#isLiteral && typeof value === 'string') this.appendImmediateValue(value);
    else super.appendValue(value);
  }
}

function isLiteralColumn(node: OperationNode): boolean {
  return ReferenceNode.is(node) && ColumnNode.is(node.column) && LITERAL_COLUMNS.has(node.column.column.name);
}
