import Type, { type Static } from 'typebox';
import type { JobType } from '../../../jobs/job.ts';

const orNull = <Schema extends Type.TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

/** What happened to somebody's access, with what they are told of it. Never a secret: it stands in the job. */
const eventSchema = Type.Union([
  Type.Object({
    kind: Type.Union([
      Type.Literal('password_changed'),
      Type.Literal('password_set'),
      Type.Literal('second_factor_on'),
      Type.Literal('second_factor_off'),
      Type.Literal('recovery_codes_renewed'),
      Type.Literal('email_changed'),
    ]),
  }),
  /** The password was right, and the codes that followed it were not: so many since the last right one. */
  Type.Object({ kind: Type.Literal('wrong_codes'), codes: Type.Integer() }),
  Type.Object({ kind: Type.Literal('recovery_code_used'), codes_left: Type.Integer() }),
  Type.Object({
    kind: Type.Literal('credential_created'),
    name: Type.String(),
    read_only: Type.Boolean(),
    /** The name of the one account that it reaches; null: all of the person's. */
    account: orNull(Type.String()),
    /** How many installs of that account it reaches; null: all that the person sees. */
    installs: orNull(Type.Integer()),
    expires_at: orNull(Type.String()),
  }),
  Type.Object({
    kind: Type.Literal('ssh_key_added'),
    /** What its owner calls it; empty: nothing. */
    name: Type.String(),
    /** As `ssh-keygen -l` shows it: `SHA256:…`. */
    fingerprint: Type.String(),
  }),
]);
export type AccessEvent = Static<typeof eventSchema>;

const noticePayload = Type.Object({
  user_id: Type.String(),
  /** The address that the person had when it happened. */
  to: Type.String(),
  first_name: Type.String(),
  at: Type.String(),
  by_operator: Type.Boolean(),
  /** The name of the API credential that did it; null or left out: none did. */
  credential: Type.Optional(orNull(Type.String())),
  /** From where; null where it was the machine itself. */
  address: orNull(Type.String()),
  event: eventSchema,
});
export type SecurityNotice = Static<typeof noticePayload>;

/** Mails somebody what happened to their access. */
export const sendSecurityNotice: JobType<typeof noticePayload> = {
  name: 'send_security_notice',
  payload: noticePayload,
  maxAttempts: 10,
  timeoutMs: 60_000,
};
