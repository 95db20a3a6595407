import type { RedirectRule, Scheme } from './redirects.ts';

/** The cases of the rule for redirects, which every edge must follow. */

export const REDIRECTS_AT = Date.parse('2026-03-01T00:00:00.000Z');

const valid = REDIRECTS_AT;
const expired = REDIRECTS_AT - 1;

export const REDIRECT_NAMES: Record<string, RedirectRule> = {
  'plain.test': { redirectTo: null, forceHttps: false, certifiedUntil: null },
  'both.test': { redirectTo: null, forceHttps: false, certifiedUntil: valid },
  'secure.test': { redirectTo: null, forceHttps: true, certifiedUntil: valid },
  'expired.test': { redirectTo: null, forceHttps: true, certifiedUntil: expired },
  'waiting.test': { redirectTo: null, forceHttps: true, certifiedUntil: null },
  '*.wild.test': { redirectTo: null, forceHttps: true, certifiedUntil: valid },
  'old.test': { redirectTo: 'plain.test', forceHttps: false, certifiedUntil: null },
  'old-secure.test': { redirectTo: 'plain.test', forceHttps: true, certifiedUntil: valid },
  'old-both.test': { redirectTo: 'both.test', forceHttps: true, certifiedUntil: null },
  'to-secure.test': { redirectTo: 'secure.test', forceHttps: false, certifiedUntil: null },
  'to-expired.test': { redirectTo: 'expired.test', forceHttps: false, certifiedUntil: valid },
  'to-waiting.test': { redirectTo: 'waiting.test', forceHttps: true, certifiedUntil: valid },
  'to-elsewhere.test': { redirectTo: 'elsewhere.test', forceHttps: true, certifiedUntil: valid },
};

export interface RedirectCase {
  scheme: Scheme;
  name: string;
  /** The new scheme, and the new name or null for the same; null: no redirect. */
  to: [Scheme, string | null] | null;
}

export const REDIRECT_CASES: RedirectCase[] = [
  { scheme: 'http', name: 'plain.test', to: null },
  { scheme: 'https', name: 'plain.test', to: null },
  { scheme: 'http', name: 'both.test', to: null },
  { scheme: 'http', name: 'secure.test', to: ['https', null] },
  { scheme: 'https', name: 'secure.test', to: null },
  { scheme: 'http', name: '*.wild.test', to: ['https', null] },
  { scheme: 'http', name: 'old.test', to: ['http', 'plain.test'] },
  { scheme: 'https', name: 'old.test', to: ['https', 'plain.test'] },
  // One redirect instead of two.
  { scheme: 'http', name: 'old-both.test', to: ['https', 'both.test'] },
  { scheme: 'http', name: 'to-secure.test', to: ['https', 'secure.test'] },
  // Visitors are never redirected to HTTPS without a valid certificate. HTTPS visitors stay on HTTPS.
  { scheme: 'http', name: 'expired.test', to: null },
  { scheme: 'http', name: 'waiting.test', to: null },
  { scheme: 'https', name: 'waiting.test', to: null },
  { scheme: 'http', name: 'old-secure.test', to: ['http', 'plain.test'] },
  { scheme: 'https', name: 'old-secure.test', to: ['https', 'plain.test'] },
  { scheme: 'http', name: 'to-expired.test', to: ['http', 'expired.test'] },
  { scheme: 'http', name: 'to-waiting.test', to: ['http', 'waiting.test'] },
  { scheme: 'http', name: 'to-elsewhere.test', to: ['http', 'elsewhere.test'] },
];
