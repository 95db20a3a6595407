import type { Queries, Transaction } from '../../../database/database.ts';
import { lockValidations } from '../../../database/lock.ts';
import { type Clock, timestamp } from '../../../lib/clock.ts';
import { HOUR_MS } from '../../../lib/durations.ts';
import { deleteValidationsUntil, insertValidation, validationsSince } from './attempts-store.ts';
import { pauseForValidations } from './schedule.ts';

/** The authority was asked to look at the name as often as it may be within an hour. */
export class ValidationsSpent extends Error {
  override readonly name = 'ValidationsSpent';
}

/** How long the authority is not to be asked to look at a name, as it was asked within the last hour. */
export async function validationPause(queries: Queries, clock: Clock, name: string): Promise<number> {
  return pauseForValidations(await validationsSince(queries, name, timestamp(clock, -HOUR_MS)), clock.now());
}

/**
 * Writes down that the authority is about to be asked. Throws ValidationsSpent where it was asked often enough: counted
 * here once more, as another process may have asked since.
 */
export async function recordValidation(transaction: Transaction, clock: Clock, name: string): Promise<void> {
  await lockValidations(transaction);
  const { queries } = transaction;
  await deleteValidationsUntil(queries, timestamp(clock, -HOUR_MS));
  if ((await validationPause(queries, clock, name)) > 0) {
    throw new ValidationsSpent(`the authority was asked to look at ${name} often enough for an hour`);
  }
  await insertValidation(queries, { name, at: timestamp(clock) });
}
