import Type from 'typebox';
import { Value } from 'typebox/value';
import type { Queries } from '../../../database/database.ts';
import { NO_PHP_LIMITS, type PhpLimits } from '../../../lib/php-limits.ts';

const limit = Type.Union([Type.Integer(), Type.Null()]);
const storedLimits = Type.Object({
  memoryMb: limit,
  uploadMb: limit,
  seconds: limit,
  workers: limit,
  inputVars: limit,
});

/** The PHP limits that an install's users have set; null without any. */
export async function findPhpLimits(queries: Queries, installId: string): Promise<PhpLimits | null> {
  const row = await queries
    .selectFrom('installs')
    .select('php_limits')
    .where('id', '=', installId)
    .executeTakeFirst();
  return row === undefined || row.php_limits === null ? null : Value.Parse(storedLimits, row.php_limits);
}

/** Stores the limits that the website now runs with. */
export async function storePhpLimits(queries: Queries, installId: string, limits: PhpLimits): Promise<void> {
  const isDefault = Object.values(limits).every((value) => value === null);
  await queries
    .updateTable('installs')
    .set({ php_limits: isDefault ? null : JSON.stringify(limits) })
    .where('id', '=', installId)
    .execute();
}

/** The limits after a change. */
export function withChange(limits: PhpLimits | null, change: Partial<PhpLimits>): PhpLimits {
  return { ...NO_PHP_LIMITS, ...limits, ...change };
}
