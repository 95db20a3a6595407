import { nullableString, stringEnum, Type, uuid } from '../../../api/schema.ts';

export const foundDomainSchema = Type.Object({
  install_id: uuid(),
  name: Type.String({ description: 'the first of its names that contains the text' }),
});

export const FOUND_KINDS = ['site', 'install', 'domain'] as const;

export const foundThingSchema = Type.Object({
  kind: stringEnum(FOUND_KINDS),
  id: uuid('id of the site or install; for a domain, of its install'),
  name: Type.String({ description: 'name of the site, install or domain' }),
  install: nullableString('name of the install that has the domain'),
  site: nullableString("name of the install's site"),
  environment: nullableString('of the install'),
  account: Type.Object({ id: uuid(), name: Type.String() }),
});

export const REASON_KINDS = [
  'install_failed',
  'backup_failed',
  'domain_not_reached',
  'certificate_missing',
  'certificate_ends',
] as const;

export const reasonSchema = Type.Object({
  kind: stringEnum(REASON_KINDS),
  domain: nullableString('the domain that the reason is about'),
  at: nullableString('when the certificate expires, the backup failed, or the domain was last checked'),
  reason: nullableString('cause in one sentence, if known'),
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
