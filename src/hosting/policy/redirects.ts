export type Scheme = 'http' | 'https';

/** The redirect settings of a host name. */
export interface RedirectRule {
  /** Another host name of the install; null to serve the website under this one. */
  redirectTo: string | null;
  forceHttps: boolean;
  /** End of the certificate, in milliseconds; null without one. */
  certifiedUntil: number | null;
}

/**
 * The scheme that a request is redirected to with 301, path and query kept; null to serve it. `target`: the rule of the name that
 * `rule` redirects to, or `rule` itself. Never redirects from HTTP to HTTPS if the target has no valid certificate at the time `now`.
 */
export function redirectScheme(
  rule: RedirectRule,
  target: RedirectRule | undefined,
  scheme: Scheme,
  now: Date,
): Scheme | null {
  const forced = rule.forceHttps || target?.forceHttps === true;
  const secure = scheme === 'https' || (forced && isCertified(target, now));
  const to: Scheme = secure ? 'https' : 'http';
  return rule.redirectTo === null && to === scheme ? null : to;
}

/** A certificate is still valid at its notAfter (RFC 5280 section 4.1.2.5). */
function isCertified(target: RedirectRule | undefined, now: Date): boolean {
  const until = target?.certifiedUntil ?? null;
  return until !== null && now.getTime() <= until;
}
