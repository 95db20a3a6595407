import type { ExpressionBuilder } from 'kysely';
import type { Tables } from '../../../database/tables.ts';

/** A warning that is due once a certificate ends by `endsBy`. */
export interface WarningThreshold {
  days: number;
  /** ISO 8601. */
  endsBy: string;
}

/** A condition for `certificates as certificate`: it ends by one of the thresholds, and no warning for that one was sent. */
export function isUnwarned(
  eb: ExpressionBuilder<Tables & { certificate: Tables['certificates'] }, 'certificate'>,
  thresholds: readonly WarningThreshold[],
) {
  const latest =
    thresholds
      .map(({ endsBy }) => endsBy)
      .sort()
      .at(-1) ?? '';
  return eb.and([
    // Follows from the next condition. SQLite would read all certificates in their order without it.
    eb('certificate.not_after', '<=', latest),
    eb.or(
      thresholds.map(({ days, endsBy }) =>
        eb.and([
          eb('certificate.not_after', '<=', endsBy),
          eb.or([eb('certificate.warned_days', 'is', null), eb('certificate.warned_days', '>', days)]),
        ]),
      ),
    ),
  ]);
}
