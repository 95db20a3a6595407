import { malformedId } from '../../../api/resource-names.ts';
import { nullableString, stringEnum, Type, uuid } from '../../../api/schema.ts';
import { type BodyDefinition, NOT_BLANK, type TextRule } from '../../../api/validation.ts';
import { UUID_PATTERN } from '../../../lib/ids.ts';

const redirectTarget = Type.Object({ id: uuid(), name: Type.String() });

const verification = {
  txt_verified_time: nullableString('time of the verification; null before'),
  txt_verified_domain: Type.String({
    description: 'the registrable domain that the record verifies, including all names below it',
  }),
  txt_verification_key: nullableString('name of the TXT record; null before the first verification request'),
  txt_verification_value: nullableString('value of the TXT record, unique to this account'),
};

export const domainSchema = Type.Object(
  {
    id: uuid(),
    name: Type.String(),
    duplicate: Type.Boolean({ description: 'another install serves the name' }),
    primary: Type.Boolean(),
    network_type: stringEnum(['LEGACY', 'AN', 'GES']),
    network_details: Type.Object({
      dns_config_info: Type.Object({
        cname: Type.String({ description: 'target for a CNAME record of the name' }),
        a_records: Type.Array(Type.String(), { description: 'addresses for names that cannot have a CNAME' }),
      }),
      network_info: Type.Object({
        status: stringEnum(['PENDING', 'ACTIVE', 'FAILED']),
        ssl: Type.Object({ status: stringEnum(['pending', 'active', 'failed', 'none']) }),
      }),
    }),
    redirects_to: Type.Array(redirectTarget),
    secure_all_urls: Type.Boolean({ description: 'redirects HTTP to HTTPS' }),
    ownership_status: stringEnum(['TXT_VERIFIED', 'TXT_VERIFICATION_PENDING']),
    ...verification,
  },
  { description: 'A host name of an install' },
);

export const verificationSchema = Type.Object(
  { id: uuid(), name: Type.String(), ...verification },
  { description: 'The ownership verification of a domain by TXT record' },
);

const bulkDomain = {
  id: uuid(),
  name: Type.String(),
  duplicate: Type.Boolean(),
  primary: Type.Boolean(),
  redirects_to: Type.Unsafe<{ id: string; name: string } | null>({
    type: ['object', 'null'],
    properties: { id: { type: 'string', format: 'uuid' }, name: { type: 'string' } },
    required: ['id', 'name'],
  }),
};

export const bulkDomainsSchema = Type.Object(
  { ...bulkDomain, domains: Type.Array(Type.Object(bulkDomain), { description: 'all added domains' }) },
  { description: 'The first added domain, with all added domains in `domains`' },
);

const nameTexts = {
  required: { summary: 'Domain name is required', message: 'Domain name cannot be empty' },
};

/** The id of a domain, or one of the values for no redirect (docs/api.md, Domains). */
const redirectTo = Type.Optional(
  Type.Unsafe<string | null>({
    type: ['string', 'null'],
    pattern: `^(nil|\\s*)$|${UUID_PATTERN}`,
    description:
      'the id of a domain of the same install to redirect to; `"nil"`, an empty string or null for no redirect',
  }),
);
const redirectTexts = {
  invalid: { summary: malformedId('domain_id'), message: malformedId('domain_id') },
};

export const newDomainSchema = Type.Object({
  name: Type.String({ pattern: NOT_BLANK, description: 'a host name, or `*.` and a host name' }),
  primary: Type.Optional(Type.Boolean()),
  redirect_to: redirectTo,
});

/** `faultOfName` validates a name against the platform's own names. */
export const createDomainBody = (faultOfName: TextRule): BodyDefinition<typeof newDomainSchema> => ({
  resource: 'Domain',
  schema: newDomainSchema,
  texts: { name: nameTexts, redirect_to: redirectTexts },
  rules: { name: faultOfName },
});

const BULK_MAXIMUM = 20;

export const newDomainsSchema = Type.Object({
  domains: Type.Array(
    Type.Object({
      name: Type.String({ pattern: NOT_BLANK }),
      redirect_to: Type.Optional(
        Type.Unsafe<string | null>({
          type: ['string', 'null'],
          description: 'a name in this request or of the install',
        }),
      ),
    }),
    { minItems: 1, maxItems: BULK_MAXIMUM },
  ),
});

export const bulkDomainsBody = (faultOfName: TextRule): BodyDefinition<typeof newDomainsSchema> => ({
  resource: 'Domain',
  schema: newDomainsSchema,
  texts: { 'domains.name': nameTexts },
  rules: { 'domains.name': faultOfName },
});

export const domainChangeSchema = Type.Object({
  primary: Type.Optional(Type.Boolean()),
  redirect_to: redirectTo,
  secure_all_urls: Type.Optional(Type.Boolean()),
});

export const updateDomainBody: BodyDefinition<typeof domainChangeSchema> = {
  resource: 'Domain',
  schema: domainChangeSchema,
  texts: { redirect_to: redirectTexts },
};
