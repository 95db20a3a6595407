import { HOUR_SECONDS as HOUR, MINUTE_SECONDS as MINUTE } from '../lib/durations.ts';

/** At most `size` per window for each subject, counted over all processes. */
export interface RateLimit {
  /** Start of the key in the table `rate_windows`. Changing it resets the counts of a running platform. */
  readonly keyPrefix: string;
  /** A number, or the setting (a field of Config) that gives it. A setting of 0 switches the limit off. */
  readonly size: number | 'rateLimit' | 'anonymousRateLimit' | 'authFailureLimit';
  readonly windowSeconds: number;
  /** The unit that is counted separately. An address is an IPv4 address or a /64 block of IPv6; email addresses are hashed. */
  readonly subject:
    | 'account'
    | 'address'
    | 'credential'
    | 'credential or user'
    | 'device'
    | 'email'
    | 'email and address'
    | 'user'
    | 'user and address'
    | 'user and account'
    | 'user and kind'
    | 'user and membership'
    | 'username';
}

/** A rate limit whose size is fixed. Those per minute are switched off if the setting `authFailureLimit` is 0. */
export interface FixedRateLimit extends RateLimit {
  readonly size: number;
  /** Never switched off: it bounds the CPU time that attempts cost. */
  readonly always?: true;
}

/** Every rate limit of the platform, except the pauses between operations of one install ({@link OPERATION_PAUSES}). */
export const RATE_LIMITS = {
  /** All requests without an identity, and failed authentications. */
  anonymousRequests: {
    keyPrefix: 'address',
    size: 'anonymousRateLimit',
    windowSeconds: MINUTE,
    subject: 'address',
  },
  credentialRequests: {
    keyPrefix: 'credential',
    size: 'rateLimit',
    windowSeconds: MINUTE,
    subject: 'credential',
  },
  /** Counted by user: a user can open any number of sessions. */
  portalRequests: { keyPrefix: 'person', size: 'rateLimit', windowSeconds: MINUTE, subject: 'user' },
  /** New keys of `Idempotency-Key`. With the time that answers are kept, it bounds what one credential can store, */
  idempotencyKeys: {
    keyPrefix: 'idempotency',
    size: 3_000,
    windowSeconds: HOUR,
    subject: 'credential or user',
    always: true,
  },
  /** and all credentials and sessions of a user. */
  idempotencyKeysByUser: {
    keyPrefix: 'idempotency-user',
    size: 6_000,
    windowSeconds: HOUR,
    subject: 'user',
    always: true,
  },
  /** Sessions that still lack the second factor. Counted apart, so that a stolen password uses up nothing of its owner's. */
  pendingSessionRequests: {
    keyPrefix: 'awaiting',
    size: 'rateLimit',
    windowSeconds: MINUTE,
    subject: 'user and address',
  },
  authFailuresByAddress: {
    keyPrefix: 'failures:address',
    size: 'authFailureLimit',
    windowSeconds: MINUTE,
    subject: 'address',
  },
  authFailuresByUsername: {
    keyPrefix: 'failures:username',
    size: 'authFailureLimit',
    windowSeconds: MINUTE,
    subject: 'username',
  },

  signInByAddress: { keyPrefix: 'sign-in:address', size: 30, windowSeconds: MINUTE, subject: 'address' },
  signInByEmailAndAddress: {
    keyPrefix: 'sign-in:person-address',
    size: 10,
    windowSeconds: MINUTE,
    subject: 'email and address',
  },
  /** From all addresses. Together with the known devices of the user: 100. */
  signInByEmail: { keyPrefix: 'sign-in:person', size: 90, windowSeconds: MINUTE, subject: 'email' },
  /** A known device, and all known devices of a user: a stolen device cookie leaves the other devices half. */
  signInByDevice: { keyPrefix: 'sign-in:device', size: 5, windowSeconds: MINUTE, subject: 'device' },
  signInByAllDevices: { keyPrefix: 'sign-in:devices', size: 10, windowSeconds: MINUTE, subject: 'user' },

  /** Answers of passkeys. A signature cannot be guessed, so the limit only bounds the CPU time of checks. */
  passkeysByAddress: {
    keyPrefix: 'passkeys:address',
    size: 30,
    windowSeconds: MINUTE,
    subject: 'address',
    always: true,
  },

  /** The current password, asked of a signed-in user who changes it. */
  currentPasswords: { keyPrefix: 'password:person', size: 10, windowSeconds: MINUTE, subject: 'user' },
  newPasswords: {
    keyPrefix: 'new-password:person',
    size: 10,
    windowSeconds: MINUTE,
    subject: 'user',
    always: true,
  },
  secondFactorEnrolments: { keyPrefix: 'enrolment:person', size: 10, windowSeconds: MINUTE, subject: 'user' },

  codesByUserAndAddress: {
    keyPrefix: 'codes:person-address',
    size: 5,
    windowSeconds: HOUR,
    subject: 'user and address',
  },
  /** From all addresses. With 10 guesses an hour, a month of guessing succeeds with a probability of 1 in 46. */
  codesByUser: { keyPrefix: 'codes:person', size: 10, windowSeconds: HOUR, subject: 'user' },
  codesByDevice: { keyPrefix: 'codes:device', size: 5, windowSeconds: HOUR, subject: 'device' },
  codesByAllDevices: { keyPrefix: 'codes:devices', size: 10, windowSeconds: HOUR, subject: 'user' },
  /** Codes of either kind that a signed-in user enters. */
  signedInCodes: { keyPrefix: 'present-codes:person', size: 10, windowSeconds: HOUR, subject: 'user' },
  recoveryCodesByUserAndAddress: {
    keyPrefix: 'recovery-codes:person-address',
    size: 10,
    windowSeconds: HOUR,
    subject: 'user and address',
  },
  /** From all addresses. 1,000 guesses of 2^80 are negligible, and only many addresses together can use them up. */
  recoveryCodesByUser: {
    keyPrefix: 'recovery-codes:person',
    size: 1000,
    windowSeconds: HOUR,
    subject: 'user',
  },
  recoveryCodesByDevice: {
    keyPrefix: 'recovery-codes:device',
    size: 5,
    windowSeconds: HOUR,
    subject: 'device',
  },
  recoveryCodesByAllDevices: {
    keyPrefix: 'recovery-codes:devices',
    size: 10,
    windowSeconds: HOUR,
    subject: 'user',
  },

  wrongCodeNotices: { keyPrefix: 'told-wrong-codes:person', size: 1, windowSeconds: HOUR, subject: 'user' },
  securityNotices: { keyPrefix: 'notices', size: 5, windowSeconds: HOUR, subject: 'user and kind' },
  /** Emails about notifications. What is more waits for the next hour, and goes out in one email. */
  notificationMails: { keyPrefix: 'notification-mails', size: 10, windowSeconds: HOUR, subject: 'user' },
  resetMailsByAddress: { keyPrefix: 'resets:address', size: 10, windowSeconds: MINUTE, subject: 'address' },
  resetMailsByEmail: { keyPrefix: 'resets:person', size: 5, windowSeconds: HOUR, subject: 'email' },
  emailChangesByAddress: {
    keyPrefix: 'new-address:address',
    size: 10,
    windowSeconds: MINUTE,
    subject: 'address',
  },
  emailChangesByUser: { keyPrefix: 'new-address:person', size: 5, windowSeconds: HOUR, subject: 'user' },
  emailChangesByEmail: { keyPrefix: 'new-address:email', size: 5, windowSeconds: HOUR, subject: 'email' },
  /** An invitation mail sent again to the same member. */
  invitationResends: {
    keyPrefix: 'invitations:person',
    size: 5,
    windowSeconds: HOUR,
    subject: 'user and membership',
  },
  invitationsByUser: { keyPrefix: 'invitations:by', size: 60, windowSeconds: HOUR, subject: 'user' },
  /** Over all users who invite. */
  invitationsByEmail: { keyPrefix: 'invitations:to', size: 5, windowSeconds: HOUR, subject: 'email' },
  newCredentials: { keyPrefix: 'new-credentials:person', size: 200, windowSeconds: HOUR, subject: 'user' },
  siteTransfers: { keyPrefix: 'site-transfers:by', size: 60, windowSeconds: HOUR, subject: 'user' },
  /** Offers of sites, mailed to each owner of an account. Further offers are shown in the portal only. */
  transferOffers: { keyPrefix: 'site-transfers:to', size: 10, windowSeconds: HOUR, subject: 'user' },
  /** Backup notifications to people outside the account, by the user who orders them, */
  backupNoticesByUser: { keyPrefix: 'backup-mails:by', size: 100, windowSeconds: HOUR, subject: 'user' },
  /** and by recipient, over all users. */
  backupNoticesByEmail: { keyPrefix: 'backup-mails:to', size: 20, windowSeconds: HOUR, subject: 'email' },
  /** Measurements of the storage of all installs of an account. */
  storageRefreshes: {
    keyPrefix: 'storage-refresh:person',
    size: 4,
    windowSeconds: HOUR,
    subject: 'user and account',
  },
  /** Links that sign in to WordPress, which run PHP, or open the database. */
  loginLinks: {
    keyPrefix: 'login-links:person',
    size: 30,
    windowSeconds: MINUTE,
    subject: 'user',
    always: true,
  },
  wpCli: {
    keyPrefix: 'wp-cli:person',
    size: 30,
    windowSeconds: MINUTE,
    subject: 'user',
    always: true,
  },
  /** Orders that users ask for; each of them counts at the certificate authority. */
  certificateOrders: { keyPrefix: 'certificate-orders', size: 60, windowSeconds: HOUR, subject: 'account' },
} as const satisfies Record<string, RateLimit | FixedRateLimit>;

/** Seconds between two operations of the same kind on one install, as stored in the table `install_limits`. */
export const OPERATION_PAUSES = {
  check_status: 5,
  verify_domain: 5,
  order_certificate: 5,
  upload_certificate: 5,
  purge_object: 60,
  refresh_storage: 300,
  refresh_wordpress: 60,
  restart_php: 30,
} as const;

/** The key of a subject's count. `subject`: in the order that {@link RateLimit.subject} names, e.g. user and address. */
export function rateLimitKey({ keyPrefix }: Pick<RateLimit, 'keyPrefix'>, ...subject: string[]): string {
  let key = keyPrefix;
  for (const part of subject) key += `:${part}`;
  return key;
}

/** Counts against limits, across all processes. */
export interface RateCounter {
  /** Counts one. `resetSeconds`: until the window ends. */
  spend(key: string, size: number, windowSeconds: number): Promise<Count> | Count;
  /** Takes back one that this process counted in the current window. */
  refund(key: string, windowSeconds: number): void;
}

interface Count {
  allowed: boolean;
  resetSeconds: number;
}
