import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import type { Queries } from '../../database/database.ts';
import { DEFAULT_POLICY, type UpdatePolicy, WEEKDAYS } from './policy.ts';

const windowSchema = Type.Union([
  Type.Null(),
  Type.Object({
    days: Type.Array(Type.Enum([...WEEKDAYS])),
    from_hour: Type.Integer(),
    hours: Type.Integer(),
    time_zone: Type.String(),
  }),
]);
const pagesSchema = Type.Array(Type.String());

/** The policy of an install, or the default. */
export async function findPolicy(queries: Queries, installId: string): Promise<UpdatePolicy> {
  const row = await queries
    .selectFrom('wordpress_update_policies')
    .select(['core', 'plugins', 'themes', 'maintenance_window', 'pages'])
    .where('install_id', '=', installId)
    .executeTakeFirst();
  return row === undefined ? DEFAULT_POLICY : policyOf(row);
}

/** Reads the policy of a row. */
export function policyOf({
  core,
  plugins,
  themes,
  maintenance_window,
  pages,
}: Pick<UpdatePolicy, 'core' | 'plugins' | 'themes'> & {
  maintenance_window: unknown;
  pages: unknown;
}): UpdatePolicy {
  const window: Static<typeof windowSchema> = Value.Parse(windowSchema, maintenance_window);
  return { core, plugins, themes, window, pages: Value.Parse(pagesSchema, pages) };
}

export async function savePolicy(
  queries: Queries,
  installId: string,
  { core, plugins, themes, window, pages }: UpdatePolicy,
  updated_at: string,
): Promise<void> {
  const values = {
    core,
    plugins,
    themes,
    maintenance_window: window === null ? null : JSON.stringify(window),
    pages: JSON.stringify(pages),
    updated_at,
  };
  await queries
    .insertInto('wordpress_update_policies')
    .values({ install_id: installId, plugins_at: null, themes_at: null, ...values })
    .onConflict((conflict) => conflict.column('install_id').doUpdateSet(values))
    .execute();
}
