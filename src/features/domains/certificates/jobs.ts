import Type from 'typebox';
import type { JobType } from '../../../jobs/job.ts';

const orderPayload = Type.Object({ domain_id: Type.String(), order_id: Type.String() });

/**
 * Orders a certificate for one domain if it is due. If refused, records the reason and the time of the next attempt. Users do
 * not see it as an operation: most of these jobs find nothing to do.
 */
export const obtainCertificate: JobType<typeof orderPayload> = {
  name: 'obtain_certificate',
  payload: orderPayload,
  maxAttempts: 3,
  timeoutMs: 180_000,
};

/** Orders a certificate for one domain because a user asked for it, whatever certificate it has. Fails if refused. */
export const orderCertificate: JobType<typeof orderPayload> = {
  name: 'order_certificate',
  operation: 'certificate.order',
  payload: orderPayload,
  maxAttempts: 3,
  timeoutMs: 180_000,
};

const nothing = Type.Object({});

/** Queues the orders that are due. */
export const orderCertificates: JobType<typeof nothing> = {
  name: 'order_certificates',
  payload: nothing,
  maxAttempts: 3,
  timeoutMs: 60_000,
};

/** Limit of parallel orders, whatever the number of workers, so that other jobs get workers, too. */
const LANES = 2;

/** The lane of a name. It is always the same, so a name is never ordered twice at the same time. */
export function laneOf(name: string): string {
  let sum = 0;
  for (const character of name) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 65_536;
  return `certificates-${sum % LANES}`;
}
