import Type, { type Static } from 'typebox';
import type { JobType } from '../../../jobs/job.ts';

const orNull = <Schema extends Type.TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

/** A change to a user's access, with the facts for the mail. Job payloads are stored, so it holds no secret. */
const eventSchema = Type.Union([
  Type.Object({
    kind: Type.Union([
      Type.Literal('password_changed'),
      Type.Literal('password_set'),
      Type.Literal('second_factor_on'),
      Type.Literal('second_factor_off'),
      Type.Literal('one_time_codes_off'),
      Type.Literal('recovery_codes_renewed'),
      Type.Literal('email_changed'),
    ]),
  }),
  /** Wrong codes after the right password; `codes`: their number since the last right code. */
  Type.Object({ kind: Type.Literal('wrong_codes'), codes: Type.Integer() }),
  Type.Object({ kind: Type.Literal('recovery_code_used'), codes_left: Type.Integer() }),
  Type.Object({
    kind: Type.Union([
      Type.Literal('first_passkey_added'),
      Type.Literal('passkey_added'),
      Type.Literal('passkey_removed'),
      Type.Literal('last_passkey_removed'),
      Type.Literal('passkey_copied'),
    ]),
    name: Type.String(),
  }),
  Type.Object({
    kind: Type.Literal('credential_created'),
    name: Type.String(),
    read_only: Type.Boolean(),
    /** The name of the only account that it reaches; null: all accounts of the user. */
    account: orNull(Type.String()),
    /** The number of installs of that account that it reaches; null: all that the user sees. */
    installs: orNull(Type.Integer()),
    expires_at: orNull(Type.String()),
  }),
  Type.Object({
    kind: Type.Literal('ssh_key_added'),
    /** The comment of the key; may be empty. */
    name: Type.String(),
    /** As `ssh-keygen -l` shows it: `SHA256:…`. */
    fingerprint: Type.String(),
  }),
]);
export type AccessEvent = Static<typeof eventSchema>;

const noticePayload = Type.Object({
  user_id: Type.String(),
  /** The user's email address at the time of the change. */
  to: Type.String(),
  first_name: Type.String(),
  at: Type.String(),
  by_operator: Type.Boolean(),
  /** The name of the API credential that made the change; null or missing for other clients. */
  credential: Type.Optional(orNull(Type.String())),
  /** The client's IP address; null for the command line. */
  address: orNull(Type.String()),
  event: eventSchema,
});
export type SecurityNotice = Static<typeof noticePayload>;

/** Mails a user about a change to their access. */
export const sendSecurityNotice: JobType<typeof noticePayload> = {
  name: 'send_security_notice',
  payload: noticePayload,
  maxAttempts: 10,
  timeoutMs: 60_000,
};
