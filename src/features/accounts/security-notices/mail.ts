import type { MailText } from '../../../mail/mailer.ts';
import type { AccessEvent, SecurityNotice } from './jobs.ts';

/** The text of a security notice; `publicUrl` is the URL of the portal. */
export function noticeMail(notice: SecurityNotice, publicUrl: string): MailText {
  const { first_name, event } = notice;
  const { subject, sentences, ifNot = RESET_PASSWORD } = WORDS[event.kind];
  return {
    subject,
    text: [
      `Hello ${first_name},`,
      '',
      ...sentences,
      '',
      ...factsOf(event),
      ...originOf(notice),
      '',
      ...ifNot(publicUrl),
      '',
    ].join('\n'),
  };
}

interface Words {
  subject: string;
  sentences: string[];
  /** Advice if the user did not make the change; {@link RESET_PASSWORD} by default. */
  ifNot?: (publicUrl: string) => string[];
}

/** A new password ends every session, an attacker's included. */
const RESET_PASSWORD = (publicUrl: string): string[] => [
  'If this was not you, someone else has access to your account. Set a new password at',
  '',
  `  ${publicUrl}/forgotten-password`,
  '',
  'This ends all your sessions and lets you revoke your API access, too. Then check your passkeys, your',
  'second factor and your API credentials:',
  '',
  `  ${publicUrl}/me/security`,
  `  ${publicUrl}/me/api-access`,
  '',
  'If you can no longer sign in, ask your provider.',
];

/** A new password does not remove passkeys. */
const CHECK_PASSKEYS = (publicUrl: string): string[] => [
  'If this was not you, someone else has access to your account. Remove passkeys that are not yours at',
  '',
  `  ${publicUrl}/me/security`,
  '',
  'Then set a new password, which ends all your sessions and lets you revoke your API access, too. It does not',
  'remove passkeys. Set it at',
  '',
  `  ${publicUrl}/forgotten-password`,
  '',
  'If you can no longer sign in, ask your provider.',
];

const WORDS: Record<AccessEvent['kind'], Words> = {
  password_changed: {
    subject: 'Your password was changed',
    sentences: ['Your Homeport password was changed.'],
  },
  password_set: {
    subject: 'Your password was reset',
    sentences: ['A new Homeport password was set with a password link.'],
  },
  second_factor_on: {
    subject: 'Your second factor was switched on',
    sentences: ['Signing in to Homeport as you now takes a code from an app as well as your password.'],
  },
  second_factor_off: {
    subject: 'Your second factor was switched off',
    sentences: ['Signing in to Homeport as you now takes only your password.'],
  },
  one_time_codes_off: {
    subject: 'Your one-time codes were switched off',
    sentences: ['Signing in to Homeport as you now takes a passkey, or a recovery code after your password.'],
    ifNot: CHECK_PASSKEYS,
  },
  first_passkey_added: {
    subject: 'A passkey was added',
    sentences: [
      'This passkey now signs in to Homeport as you, without your password.',
      'Signing in with your password now also takes a passkey or a recovery code.',
    ],
    ifNot: CHECK_PASSKEYS,
  },
  passkey_added: {
    subject: 'A passkey was added',
    sentences: ['This passkey now signs in to Homeport as you, without your password.'],
    ifNot: CHECK_PASSKEYS,
  },
  passkey_removed: {
    subject: 'A passkey was removed',
    sentences: ['This passkey no longer signs in to Homeport.'],
    ifNot: CHECK_PASSKEYS,
  },
  last_passkey_removed: {
    subject: 'Your last passkey was removed',
    sentences: [
      'This passkey no longer signs in to Homeport. Signing in as you now takes only your password.',
    ],
    ifNot: CHECK_PASSKEYS,
  },
  passkey_copied: {
    subject: 'A passkey was refused',
    sentences: [
      'Someone tried to use one of your passkeys. Its counter was lower than at its last use, so it may have been copied.',
      'It did not sign in.',
    ],
    ifNot: (publicUrl) => [
      'Remove the passkey and add a new one, even if this was you, at',
      '',
      `  ${publicUrl}/me/security`,
      '',
      'If you can no longer sign in, ask your provider.',
    ],
  },
  recovery_codes_renewed: {
    subject: 'Your recovery codes were replaced',
    sentences: ['You have ten new recovery codes for Homeport. The old ones no longer work.'],
  },
  recovery_code_used: {
    subject: 'A recovery code was used to sign in',
    sentences: ['Someone, most likely you, signed in to Homeport with one of your recovery codes.'],
  },
  wrong_codes: {
    subject: 'Wrong codes were entered after your password',
    sentences: [
      'Someone entered your Homeport password, and then several wrong codes for your second factor.',
      'They could not sign in.',
    ],
    ifNot: (publicUrl) => [
      'If this was you, check that the clock of your phone is right, or use a recovery code.',
      'If this was not you, someone knows your password. Set a new one at',
      '',
      `  ${publicUrl}/forgotten-password`,
      '',
      'and wherever else you use it. Never give anyone a code. If you can no longer sign in, ask your provider.',
    ],
  },
  credential_created: {
    subject: 'A new API credential was created',
    sentences: ['A new API credential can now act as you in Homeport.'],
  },
  ssh_key_added: {
    subject: 'A new SSH key was added',
    sentences: ['This SSH key now gives access to the files of your websites.'],
    ifNot: (publicUrl) => [
      'If this was not you, someone else has access to your account. Remove the key at',
      '',
      `  ${publicUrl}/me/ssh-keys`,
      '',
      'This ends its connections. Then set a new password, which ends all your sessions and lets you revoke your API',
      'access, too. It does not remove SSH keys. Set it at',
      '',
      `  ${publicUrl}/forgotten-password`,
      '',
      'If you can no longer sign in, ask your provider.',
    ],
  },
  email_changed: {
    subject: 'Your email address was changed',
    sentences: [
      'You now sign in to Homeport with another email address. This one no longer works.',
      'Password links and invitations sent to this address have stopped working.',
    ],
    ifNot: (publicUrl) => [
      'If this was not you, someone knows your password. Ask your provider at once to restore your address.',
      'If you are still signed in anywhere, end your other sessions and set a new password at',
      '',
      `  ${publicUrl}/me/security`,
    ],
  },
};

function factsOf(event: AccessEvent): string[] {
  switch (event.kind) {
    case 'wrong_codes':
      return [`Codes:    ${event.codes} wrong since the last right one`];
    case 'recovery_code_used':
      return [`Left:     ${codesLeft(event.codes_left)}`];
    case 'first_passkey_added':
    case 'passkey_added':
    case 'passkey_removed':
    case 'last_passkey_removed':
    case 'passkey_copied':
      return [`Name:     ${event.name}`];
    case 'credential_created':
      return factsOfCredential(event);
    case 'ssh_key_added':
      return [...(event.name === '' ? [] : [`Name:     ${event.name}`]), `Key:      ${event.fingerprint}`];
    default:
      return [];
  }
}

function factsOfCredential({
  name,
  read_only,
  account,
  installs,
  expires_at,
}: Extract<AccessEvent, { kind: 'credential_created' }>): string[] {
  const reach = account === null ? 'all your accounts' : `only the account ${account}`;
  const within = installs === null ? '' : `, ${installs} ${installs === 1 ? 'install' : 'installs'} of it`;
  return [
    `Name:     ${name}`,
    `May:      ${read_only ? 'read' : 'read and change'} what you can, in ${reach}${within}`,
    `Expires:  ${expires_at === null ? 'never' : inMinutes(expires_at)}`,
  ];
}

const codesLeft = (left: number): string =>
  left === 0 ? 'no recovery codes; create new ones' : `${left} recovery ${left === 1 ? 'code' : 'codes'}`;

const originOf = ({ at, address, by_operator, credential = null }: SecurityNotice): string[] => [
  `When:     ${inMinutes(at)}`,
  ...(address === null ? [] : [`From:     ${address}`]),
  `With:     ${by_operator ? 'the command line of your provider' : clientOf(credential)}`,
];

const clientOf = (credential: string | null): string =>
  credential === null ? 'a browser, in the portal' : `your API credential “${credential}”`;

/** `at`: ISO 8601 in UTC. */
const inMinutes = (at: string): string => `${at.slice(0, 10)} ${at.slice(11, 16)} UTC`;
