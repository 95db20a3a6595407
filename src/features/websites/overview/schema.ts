import { nullableString, stringEnum, Type, uuid } from '../../../api/schema.ts';

export const foundDomainSchema = Type.Object({
  install_id: uuid(),
  name: Type.String({ description: 'the first of its names that holds the text' }),
});

export const FOUND_KINDS = ['site', 'install', 'domain'] as const;

export const foundThingSchema = Type.Object({
  kind: stringEnum(FOUND_KINDS),
  id: uuid('of the site or the install; of a domain that of its install'),
  name: Type.String({ description: 'of the site, the install or the domain' }),
  install: nullableString('name of the install that a domain leads to'),
  site: nullableString('name of the site that the install is in'),
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
  domain: nullableString('which domain, where it is about one'),
  at: nullableString('when the certificate ends, the backup was given up, or the domain was looked at last'),
  reason: nullableString('why, one sentence, where that is known'),
});

export const attentionSchema = Type.Object({
  install_id: uuid(),
  reasons: Type.Array(reasonSchema, { description: 'the gravest first; at least one' }),
});
