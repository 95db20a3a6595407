import type { LoginRefused } from '../contract/host.ts';

/** The answer of a host without PHP to requests for a login. */
export const STATIC_ONLY: LoginRefused = {
  refused: 'website',
  reason: 'This install has no WordPress: its host serves static websites.',
};
