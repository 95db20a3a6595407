import Type from 'typebox';
import type { JobType } from '../../../jobs/job.ts';

const orderPayload = Type.Object({ domain_id: Type.String(), order_id: Type.String() });

/** Gets a certificate for one domain from the authority, or writes down why there is none and when to try again. */
export const obtainCertificate: JobType<typeof orderPayload> = {
  name: 'obtain_certificate',
  payload: orderPayload,
  maxAttempts: 3,
  timeoutMs: 180_000,
};

const nothing = Type.Object({});

/** Asks for the certificates that are due. */
export const orderCertificates: JobType<typeof nothing> = {
  name: 'order_certificates',
  payload: nothing,
  maxAttempts: 3,
  timeoutMs: 60_000,
};

/** So many orders are under way at the same time, whatever the number of workers: the others have work of their own. */
const LANES = 2;

/** One name is always in the same lane, so that it is never ordered twice at once. */
export function laneOf(name: string): string {
  let sum = 0;
  for (const character of name) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 65_536;
  return `certificates-${sum % LANES}`;
}
