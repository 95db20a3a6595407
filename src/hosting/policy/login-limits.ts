/**
 * Attempts of one address block at one website. A person needs a few logins; an application that publishes by XML-RPC sends many in a
 * row, and then none. The password of a single post is no login, and guessing it must cost time, too.
 */
export const LOGIN_LIMITS = {
  login: { perMinute: 10, burst: 10 },
  xmlrpc: { perMinute: 30, burst: 60 },
  postpass: { perMinute: 30, burst: 30 },
};

/** Seconds until another attempt of each kind is accepted after a burst, for `Retry-After`. */
export const NEXT_ATTEMPT = {
  login: 60 / LOGIN_LIMITS.login.perMinute,
  xmlrpc: 60 / LOGIN_LIMITS.xmlrpc.perMinute,
  postpass: 60 / LOGIN_LIMITS.postpass.perMinute,
};
