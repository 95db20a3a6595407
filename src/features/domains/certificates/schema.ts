import { stringEnum, Type } from '../../../api/schema.ts';

/** Fields that this platform does not use are null (docs/api.md, Certificates). */
const nullableText = (description?: string) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], ...(description ? { description } : {}) });

export const certificateInformationSchema = Type.Object(
  {
    cert_name: Type.String(),
    cert_info: Type.Object({
      key: Type.String({ description: 'PEM; empty for partial users' }),
      cert: Type.String({ description: 'PEM, leaf first' }),
    }),
    certificate: Type.Object({
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
    criteria: Type.String({ description: 'the host name that the certificate was looked up by' }),
  },
  { description: 'The certificate that the edge serves for a domain' },
);
