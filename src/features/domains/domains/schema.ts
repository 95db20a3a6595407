import { malformedId } from '../../../api/resource-names.ts';
import { nullableString, stringEnum, Type, uuid } from '../../../api/schema.ts';
import { type BodyDefinition, NOT_BLANK, type TextRule } from '../../../api/validation.ts';
import { UUID_PATTERN } from '../../../lib/ids.ts';

const redirectTarget = Type.Object({ id: uuid(), name: Type.String() });

const verification = {
  txt_verified_time: nullableString('when the TXT record was seen; null before'),
  txt_verified_domain: Type.String({
    description: 'the registrable domain, which the record proves with all names below it',
  }),
  txt_verification_key: nullableString('the name of the TXT record; null before verification was asked for'),
  txt_verification_value: nullableString('its value, for this account alone'),
};

export const domainSchema = Type.Object(
  {
    id: uuid(),
    name: Type.String(),
    duplicate: Type.Boolean({ description: 'another install has the name and serves it' }),
    primary: Type.Boolean(),
    network_type: stringEnum(['LEGACY', 'AN', 'GES']),
    network_details: Type.Object({
      dns_config_info: Type.Object({
        cname: Type.String({ description: 'what a CNAME of the name should point to' }),
        a_records: Type.Array(Type.String(), { description: 'addresses, where a CNAME cannot be used' }),
      }),
      network_info: Type.Object({
        status: stringEnum(['PENDING', 'ACTIVE', 'FAILED']),
        ssl: Type.Object({ status: stringEnum(['pending', 'active', 'failed', 'none']) }),
      }),
    }),
    redirects_to: Type.Array(redirectTarget),
    secure_all_urls: Type.Boolean({ description: 'visitors by HTTP are sent to HTTPS' }),
    ownership_status: stringEnum(['TXT_VERIFIED', 'TXT_VERIFICATION_PENDING']),
    ...verification,
  },
  { description: 'A host name of an install' },
);

export const verificationSchema = Type.Object(
  { id: uuid(), name: Type.String(), ...verification },
  { description: 'Whether a TXT record proves that the account owns a domain, and which one does' },
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
  { ...bulkDomain, domains: Type.Array(Type.Object(bulkDomain), { description: 'all that were added' }) },
  { description: 'The first of the added domains; all of them in `domains`' },
);

const nameTexts = {
  required: { summary: 'Domain name is required', message: 'Domain name cannot be empty' },
};

/** The id of a domain, or what clients send for none (gaps section 5). */
const redirectTo = Type.Optional(
  Type.Unsafe<string | null>({
    type: ['string', 'null'],
    pattern: `^(nil|\\s*)$|${UUID_PATTERN}`,
    description:
      'the id of a domain of the same install, to which visitors are sent on; `"nil"`, an empty string or null: no redirect',
  }),
);
const redirectTexts = {
  invalid: { summary: malformedId('domain_id'), message: malformedId('domain_id') },
};

export const newDomainSchema = Type.Object({
  name: Type.String({ pattern: NOT_BLANK, description: 'host name, or `*.` and one' }),
  primary: Type.Optional(Type.Boolean()),
  redirect_to: redirectTo,
});

/** `faultOfName`: what is wrong with a name; it depends on the platform's own. */
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
          description: 'a name of this request or of the install',
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
