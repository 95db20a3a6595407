import type { Queries, Transaction } from '../../../database/database.ts';
import { lockValidations } from '../../../database/lock.ts';
import { type Clock, timestamp } from '../../../lib/clock.ts';
import { HOUR_MS } from '../../../lib/durations.ts';
import { deleteValidationsUntil, insertValidation, validationsSince } from './attempts-store.ts';
import { pauseForValidations } from './schedule.ts';

/** The limit of validation requests per hour is reached for the name. */
export class ValidationsSpent extends Error {
  override readonly name = 'ValidationsSpent';
}

/** Milliseconds until the next validation request for a name is allowed. */
export async function validationPause(queries: Queries, clock: Clock, name: string): Promise<number> {
  return pauseForValidations(await validationsSince(queries, name, timestamp(clock, -HOUR_MS)), clock.now());
}

/**
 * Records a validation request before it is sent. Throws ValidationsSpent at the limit, which is checked again here because
 * another process may have sent a request.
 */
export async function recordValidation(transaction: Transaction, clock: Clock, name: string): Promise<void> {
  await lockValidations(transaction);
  const { queries } = transaction;
  await deleteValidationsUntil(queries, timestamp(clock, -HOUR_MS));
  if ((await validationPause(queries, clock, name)) > 0) {
    throw new ValidationsSpent(`the hourly limit of validation requests for ${name} is reached`);
  }
  await insertValidation(queries, { name, at: timestamp(clock) });
}
