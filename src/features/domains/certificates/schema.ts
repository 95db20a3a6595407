import { EXAMPLE_ID } from '../../../api/example-ids.ts';
import { component, stringEnum, Type } from '../../../api/schema.ts';

/** Fields that this platform does not use are null (docs/api.md, Certificates). */
const nullableText = (description?: string) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], ...(description ? { description } : {}) });

const filesExample = { key: '', cert: '-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----\n' };

const certificateFiles = component(
  'CertificateFiles',
  Type.Object({
    key: Type.String({ description: 'PEM; empty for partial users' }),
    cert: Type.String({ description: 'PEM, leaf first' }),
  }),
  filesExample,
);

const certificateExample = {
  id: 42,
  account: EXAMPLE_ID.account,
  auth_file: null,
  approver_email: null,
  common_name: 'www.example.com',
  cancel_time: null,
  cert_source: 'LETS_ENCRYPT' as const,
  ordered_time: '2026-01-31T09:31:00.000Z',
  order_id: '123456789',
  status: 'ENABLED' as const,
  parent_id: null,
  provider_order_id: 'https://acme.example.org/order/1/123456789',
  approved_time: '2026-01-31T09:31:00.000Z',
  expires_time: '2026-05-01T08:30:59.000Z',
  auto_renew: true,
  wildcard: false,
  domains: ['www.example.com'],
};

const certificateSchema = component(
  'Certificate',
  Type.Object({
    id: Type.Integer(),
    account: nullableText(),
    auth_file: nullableText(),
    approver_email: nullableText(),
    common_name: Type.String(),
    cancel_time: nullableText(),
    cert_source: stringEnum(['LETS_ENCRYPT', 'THIRD_PARTY', 'SELF_SIGNED', 'CERT_SOURCE_UNSPECIFIED']),
    ordered_time: Type.String(),
    order_id: nullableText(),
    status: stringEnum([
      'ENABLED',
      'DISABLED',
      'EXPIRED',
      'CANCELED',
      'REJECTED',
      'SUBMITTED',
      'SSL_STATE_UNSPECIFIED',
    ]),
    parent_id: nullableText(),
    provider_order_id: nullableText(),
    approved_time: Type.String(),
    expires_time: Type.String(),
    auto_renew: Type.Boolean(),
    wildcard: Type.Boolean(),
    domains: Type.Array(Type.String()),
  }),
  certificateExample,
);

export const certificateInformationSchema = component(
  'CertificateInformation',
  Type.Object(
    {
      cert_name: Type.String(),
      cert_info: certificateFiles,
      certificate: certificateSchema,
      criteria: Type.String({ description: 'the host name that the certificate was looked up by' }),
    },
    { description: 'The certificate that the edge serves for a domain' },
  ),
  {
    cert_name: 'www.example.com',
    cert_info: filesExample,
    certificate: certificateExample,
    criteria: 'www.example.com',
  },
);
