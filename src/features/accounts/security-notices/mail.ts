import type { MailText } from '../../../mail/mailer.ts';
import type { AccessEvent, SecurityNotice } from './jobs.ts';

/** What somebody is told of their access; `publicUrl` is the portal's. */
export function noticeMail(notice: SecurityNotice, publicUrl: string): MailText {
  const { first_name, event } = notice;
  const { subject, sentences, ifNot = SOMEBODY_ELSE } = WORDS[event.kind];
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
  /** What to do where it was somebody else; left out, {@link SOMEBODY_ELSE}. */
  ifNot?: (publicUrl: string) => string[];
}

/** A new password ends every session, also of whoever has changed the old one. */
const SOMEBODY_ELSE = (publicUrl: string): string[] => [
  'If this was not you: somebody else can get at what is yours. Set a new password at',
  '',
  `  ${publicUrl}/forgotten-password`,
  '',
  'That ends all your sessions, and offers to end your API access, too. Then look at your second factor',
  'and your API credentials:',
  '',
  `  ${publicUrl}/me/security`,
  `  ${publicUrl}/me/api-access`,
  '',
  'If you cannot sign in any more, ask your provider.',
];

const WORDS: Record<AccessEvent['kind'], Words> = {
  password_changed: {
    subject: 'Your password was changed',
    sentences: ['the password with which you sign in to Homeport was changed.'],
  },
  password_set: {
    subject: 'Your password was set anew',
    sentences: ['a new password with which you sign in to Homeport was set, by a link for that.'],
  },
  second_factor_on: {
    subject: 'Your second factor was switched on',
    sentences: [
      'whoever signs in to Homeport as you needs a code of an app from now on, besides the password.',
    ],
  },
  second_factor_off: {
    subject: 'Your second factor was switched off',
    sentences: ['your password alone lets in whoever signs in to Homeport as you from now on.'],
  },
  recovery_codes_renewed: {
    subject: 'Your recovery codes were made anew',
    sentences: ['you have ten new recovery codes for Homeport; the old ones are void.'],
  },
  recovery_code_used: {
    subject: 'A recovery code was used to sign in',
    sentences: ['somebody, most likely you, has signed in to Homeport with one of your recovery codes.'],
  },
  wrong_codes: {
    subject: 'Wrong codes followed your password',
    sentences: [
      'somebody has typed your password for Homeport, and then wrong codes of the second factor again and again.',
      'That has kept them out.',
    ],
    ifNot: (publicUrl) => [
      'If this was you: look whether the clock of your telephone is right, or take a recovery code.',
      'If this was not you: somebody knows your password. Set a new one at',
      '',
      `  ${publicUrl}/forgotten-password`,
      '',
      'and wherever else you use it. Tell nobody a code, whoever asks for one. If you cannot sign in any more, ask',
      'your provider.',
    ],
  },
  credential_created: {
    subject: 'A new API credential was made',
    sentences: ['a new API credential acts as you in Homeport from now on.'],
  },
  ssh_key_added: {
    subject: 'A new SSH key was added',
    sentences: ['whoever has this SSH key gets at the files of your websites as you from now on.'],
    ifNot: (publicUrl) => [
      'If this was not you: somebody else can get at what is yours. Remove the key at',
      '',
      `  ${publicUrl}/me/ssh-keys`,
      '',
      'That ends its connections. A new password does not remove it, but ends all your sessions, and offers to end',
      'your API access, too. Set one at',
      '',
      `  ${publicUrl}/forgotten-password`,
      '',
      'If you cannot sign in any more, ask your provider.',
    ],
  },
  email_changed: {
    subject: 'Your e-mail address was changed',
    sentences: [
      'you sign in to Homeport with another e-mail address from now on; this one does not work there any more.',
      'Links to set a password and invitations that were sent here have stopped working.',
    ],
    ifNot: (publicUrl) => [
      'If this was not you: somebody knows your password. Ask your provider at once to give you your address',
      'back. Where you are still signed in, end your other sessions and set a new password at',
      '',
      `  ${publicUrl}/me/security`,
    ],
  },
};

function factsOf(event: AccessEvent): string[] {
  switch (event.kind) {
    case 'wrong_codes':
      return [`Codes:    ${event.codes} wrong ones since the last right one`];
    case 'recovery_code_used':
      return [`Left:     ${codesLeft(event.codes_left)}`];
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
  const reach = account === null ? 'all your accounts' : `the account ${account} alone`;
  const within = installs === null ? '' : `, ${installs} ${installs === 1 ? 'install' : 'installs'} of it`;
  return [
    `Name:     ${name}`,
    `May:      ${read_only ? 'read' : 'read and change'} what you may, in ${reach}${within}`,
    `Expires:  ${expires_at === null ? 'never' : inMinutes(expires_at)}`,
  ];
}

const codesLeft = (left: number): string =>
  left === 0 ? 'no recovery code; make new ones' : `${left} recovery ${left === 1 ? 'code' : 'codes'}`;

const originOf = ({ at, address, by_operator, credential = null }: SecurityNotice): string[] => [
  `When:     ${inMinutes(at)}`,
  ...(address === null ? [] : [`From:     ${address}`]),
  `With:     ${by_operator ? 'the command line of your provider' : clientOf(credential)}`,
];

const clientOf = (credential: string | null): string =>
  credential === null ? 'a browser, in the portal' : `your API credential “${credential}”`;

/** `at`: as times are stored. */
const inMinutes = (at: string): string => `${at.slice(0, 10)} ${at.slice(11, 16)} UTC`;
