import {
  type AliasNode,
  type CompiledQuery,
  IdentifierNode,
  OperationNodeTransformer,
  type QueryId,
  type Selectable,
  TableNode,
} from 'kysely';
import type { Tables } from './tables.ts';

/**
 * The rows that the answer of a query is made of, for each table that it reads: those whose column has the value of a parameter, present or
 * absent, or any. When one changes, the answer is no longer kept.
 */
export type AnswerRows<Parameters> = {
  readonly [Table in keyof Tables]?:
    | readonly [column: keyof Selectable<Tables[Table]> & string, parameter: keyof Parameters & string]
    | 'any';
};

/** One table of {@link AnswerRows}. Without column and parameter: any row. */
export interface ReadPart {
  table: string;
  column: string | null;
  parameter: string | null;
}

/** The tables of `rows`. Throws if the query reads another table, because its answers could then be kept for too long. */
export function checkedRows<Parameters>(compiled: CompiledQuery, rows: AnswerRows<Parameters>): ReadPart[] {
  const parts = Object.entries(rows).map(([table, meant]) => {
    if (meant === 'any') return { table, column: null, parameter: null };
    const [column, parameter] = meant;
    return { table, column, parameter };
  });
  for (const name of tablesOf(compiled)) {
    if (!parts.some(({ table }) => table === name)) {
      throw new Error(`a prepared query reads the table "${name}", which its rows do not name`);
    }
  }
  return parts;
}

/** Finds the names of tables, and their aliases. */
class TableFinder extends OperationNodeTransformer {
  readonly names = new Set<string>();
  readonly aliases = new Set<string>();

  protected override transformTable(node: TableNode, queryId?: QueryId): TableNode {
    this.names.add(node.table.identifier.name);
    return super.transformTable(node, queryId);
  }

  protected override transformAlias(node: AliasNode, queryId?: QueryId): AliasNode {
    if (TableNode.is(node.node) && IdentifierNode.is(node.alias)) this.aliases.add(node.alias.name);
    return super.transformAlias(node, queryId);
  }
}

function tablesOf({ query, queryId }: CompiledQuery): string[] {
  const finder = new TableFinder();
  finder.transformNode(query, queryId);
  return [...finder.names].filter((name) => !finder.aliases.has(name));
}
