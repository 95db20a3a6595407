type Dialect = 'sqlite' | 'postgres';

export interface RowTrigger {
  on: 'insert' | 'update' | 'delete';
  /** One of these columns must change. */
  of?: readonly string[];
  /** Statements that end with semicolons. */
  run: string;
}

/** Triggers that run for each row after a change. */
export function rowTriggers(
  dialect: Dialect,
  what: string,
  table: string,
  triggers: readonly RowTrigger[],
): string[] {
  return triggers.flatMap(({ on, of, run }) => {
    const name = `${what}_${table}_${on}`;
    const event = of === undefined ? on : `update of ${of.join(', ')}`;
    const when =
      of === undefined
        ? ''
        : `when (${of.map((column) => `old.${column} is distinct from new.${column}`).join(' or ')})`;
    if (dialect === 'sqlite') {
      return [`create trigger ${name} after ${event} on ${table} for each row ${when} begin ${run} end`];
    }
    return [
      `create function homeport_${name}() returns trigger language plpgsql as $$ begin ${run} return null; end $$`,
      `create trigger ${name} after ${event} on ${table} for each row ${when} execute function homeport_${name}()`,
    ];
  });
}
