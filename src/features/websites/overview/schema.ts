import { nullableEnum, nullableString, stringEnum, Type, timestamp, uuid } from '../../../api/schema.ts';
import { ENVIRONMENTS, INSTALL_STATUSES } from '../installs/schema.ts';

export const FOUND_KINDS = ['site', 'install', 'domain', 'tag'] as const;

export const foundThingSchema = Type.Object({
  kind: stringEnum(FOUND_KINDS),
  id: uuid('id of the site or install; for a domain, of its install; for a tag, of the account'),
  name: Type.String({ description: 'name of the site, install, domain or tag' }),
  install: nullableString('name of the install that has the domain'),
  site: nullableString("name of the install's site"),
  environment: nullableString('of the install'),
  account: Type.Object({ id: uuid(), name: Type.String() }),
});

export const REASON_KINDS = [
  'install_failed',
  'data_lost',
  'backup_failed',
  'limit_reached',
  'domain_not_reached',
  'certificate_missing',
  'certificate_ends',
] as const;

export const reasonSchema = Type.Object({
  kind: stringEnum(REASON_KINDS),
  domain: nullableString('the domain that the reason is about'),
  at: nullableString(
    'when the certificate expires, the backup failed, the files were measured, or the domain was last checked',
  ),
  reason: nullableString('cause in one sentence, if known'),
  retry_operation_id: nullableString('the failed operation, if it can be repeated'),
});

export const attentionSchema = Type.Object({
  install_id: uuid(),
  install_name: Type.String(),
  reasons: Type.Array(reasonSchema, { description: 'most severe first; at least one' }),
});

export const onboardingSchema = Type.Object({
  site: Type.Boolean({ description: 'whether the account has a site' }),
  install: Type.Boolean({ description: 'whether it has an install' }),
  domain: Type.Boolean({ description: 'whether an install has a domain besides its default domain' }),
  backup: Type.Boolean({ description: 'whether a backup of an install is complete' }),
  daily_backups: Type.Boolean({ description: 'whether this platform backs up installs every day' }),
  person: Type.Boolean({ description: 'whether anyone else was invited' }),
});

export const listedInstallSchema = Type.Object({
  id: uuid(),
  name: Type.String(),
  status: stringEnum(INSTALL_STATUSES),
  environment: nullableEnum(ENVIRONMENTS),
  site_id: nullableString('id of its site'),
  site_name: nullableString('name of its site'),
  tags: Type.Array(Type.String(), { description: 'of its site' }),
  php_version: nullableString(),
  primary_domain: Type.String(),
  matched_domain: nullableString(
    'a domain that contains the text, if the name and the primary domain do not',
  ),
  core_update: nullableString('version of WordPress to which it can be updated'),
  plugin_updates: Type.Integer({ description: 'number of plugins with a waiting update' }),
  theme_updates: Type.Integer({ description: 'number of themes with a waiting update' }),
  reasons: Type.Array(reasonSchema, { description: 'why it needs attention, most severe first' }),
  created_at: timestamp(),
});

export const selectedInstallSchema = Type.Object({
  id: uuid(),
  name: Type.String(),
  php_version: nullableString(),
  site_id: nullableString('id of its site'),
  tags: Type.Array(Type.String(), { description: 'of its site' }),
});

export const listedSiteSchema = Type.Object({
  id: uuid(),
  name: Type.String(),
  tags: Type.Array(Type.String()),
  created_at: timestamp(),
  installs: Type.Array(
    Type.Object({
      id: uuid(),
      name: Type.String(),
      environment: nullableEnum(ENVIRONMENTS),
      status: stringEnum(INSTALL_STATUSES),
      needs_attention: Type.Boolean(),
      matched_domain: nullableString(
        'a domain that contains the text, if its row would not show why it matches',
      ),
    }),
  ),
});
