import pg from 'pg';
import { vi } from 'vitest';
import { z } from 'zod';
import { PLANNING } from './postgres.ts';

/** Rows that PostgreSQL read for a statement. */
export interface RowsRead {
  rows: number;
  /** The steps that read at least `notable` rows. */
  steps: string[];
}

/** The statements that all connections of pg send, with their values, and what PostgreSQL reads for each. */
export interface WatchedStatements {
  /** Those since the last call: each text with the values of each time it was sent. */
  take(): Map<string, unknown[][]>;
  /** Runs a statement, and undoes it. */
  rowsRead(text: string, values: unknown[], notable: number): Promise<RowsRead>;
  stop(): Promise<void>;
}

interface Plan {
  'Node Type': string;
  'Relation Name'?: string | undefined;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter': number;
  Plans: Plan[];
}
const planSchema: z.ZodType<Plan> = z.object({
  'Node Type': z.string(),
  'Relation Name': z.string().optional(),
  'Actual Rows': z.number(),
  'Actual Loops': z.number(),
  'Rows Removed by Filter': z.number().default(0),
  get Plans() {
    return z.array(planSchema).default([]);
  },
});
const explainedSchema = z.tuple([z.object({ 'QUERY PLAN': z.tuple([z.object({ Plan: planSchema })]) })]);
const statementSchema = z.object({ text: z.string(), values: z.array(z.unknown()).default([]) });

/** Watches all connections of this process, and explains on one of its own. `settings`: of its planner, as options of a session. */
export async function watchStatements(connectionString: string, settings = ''): Promise<WatchedStatements> {
  const explaining = new pg.Client({ connectionString, options: `${PLANNING} ${settings}` });
  await explaining.connect();
  let sent = new Map<string, unknown[][]>();
  const { query } = pg.Client.prototype;
  const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (
    this: pg.Client,
    ...given: unknown[]
  ) {
    const statement = statementSchema.safeParse(given[0]);
    if (this !== explaining && statement.success) {
      const { text, values } = statement.data;
      sent.set(text, [...(sent.get(text) ?? []), values]);
    }
    return Reflect.apply(query, this, given);
  });
  return {
    take() {
      const taken = sent;
      sent = new Map();
      return taken;
    },
    async rowsRead(text, values, notable) {
      await explaining.query('begin');
      try {
        const { rows } = await explaining.query(`explain (analyze, timing off, format json) ${text}`, values);
        const [
          {
            'QUERY PLAN': [{ Plan }],
          },
        ] = explainedSchema.parse(rows);
        return rowsOf(Plan, notable);
      } finally {
        await explaining.query('rollback');
      }
    },
    async stop() {
      spy.mockRestore();
      await explaining.end();
    },
  };
}

function rowsOf(plan: Plan, notable: number): RowsRead {
  const below = plan.Plans.map((step) => rowsOf(step, notable));
  const table = plan['Relation Name'];
  // A step that changes rows has read them in a step below.
  const isRead = table !== undefined && plan['Node Type'] !== 'ModifyTable';
  const own = isRead ? (plan['Actual Rows'] + plan['Rows Removed by Filter']) * plan['Actual Loops'] : 0;
  return {
    rows: below.reduce((sum, { rows }) => sum + rows, own),
    steps: [
      ...(own >= notable ? [`${plan['Node Type']} of ${table}: ${own} rows`] : []),
      ...below.flatMap(({ steps }) => steps),
    ],
  };
}
