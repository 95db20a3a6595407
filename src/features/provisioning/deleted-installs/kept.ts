import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';

const orNull = <Schema extends Type.TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const text = Type.String();

const backup = Type.Object({
  id: text,
  description: text,
  bytes: orNull(Type.Number()),
  files: orNull(Type.Number()),
  sha256: orNull(text),
  scheduled: Type.Boolean(),
  checkpoint: Type.Boolean(),
  wordpress_version: orNull(text),
  verified_at: orNull(text),
  created_at: text,
  finished_at: orNull(text),
});

const keptSchema = Type.Object({
  site_id: orNull(text),
  environment: orNull(Type.Enum(['production', 'staging', 'development'])),
  php_version: orNull(text),
  wordpress_version: orNull(text),
  defer_wordpress_until: orNull(text),
  mail_limit: orNull(Type.Number()),
  mail_allowance: orNull(Type.Number()),
  offload_file_name: text,
  offload_file_content: text,
  created_at: text,
  /** Custom domains that the install served. */
  domains: Type.Array(
    Type.Object({
      name: text,
      is_primary: Type.Boolean(),
      secure_all_urls: Type.Boolean(),
      /** Name of the target; null for none. */
      redirect_to: orNull(text),
    }),
  ),
  /** Its rules for visitors; null for the usual ones. Without them, a website with a password would come back without it. */
  rules: orNull(
    Type.Object({
      protection: Type.Object({}),
      sealed_password: orNull(text),
      password_hash: orNull(text),
      redirects: Type.Array(Type.Object({})),
      cache_rules: orNull(Type.Object({})),
    }),
  ),
  /** Completed backups, oldest first. */
  backups: Type.Array(backup),
  /** Partial users of the install. */
  users: Type.Array(text),
});

/** The facts about a deleted install that a restore puts back. */
export type Kept = Static<typeof keptSchema>;
export type KeptBackup = Static<typeof backup>;

/** Reads the stored facts. Fields that earlier versions did not store get defaults. */
export function parseKept(stored: unknown): Kept {
  return Value.Parse(keptSchema, stored);
}
