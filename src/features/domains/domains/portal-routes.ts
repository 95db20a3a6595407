import type { Static } from 'typebox';
import { type Route, route } from '../../../api/route.ts';
import { nullableString, stringEnum, Type, uuid } from '../../../api/schema.ts';
import type { DomainService } from './service.ts';

const certificate = Type.Object({
  source: stringEnum(['LETS_ENCRYPT', 'THIRD_PARTY', 'SELF_SIGNED']),
  id: Type.Integer({ description: 'in the list of certificates of the install' }),
  not_after: Type.String({ format: 'date-time' }),
  renew_at: nullableString('time of the automatic renewal; null of other sources than the authority'),
});

export function domainPortalRoutes(domains: DomainService): Route[] {
  return [
    route({
      method: 'GET',
      path: '/installs/:install_id/domain_states',
      operationId: 'getDomainStates',
      summary: 'Details of each domain: certificate, reasons, last status report',
      tag: 'Domains',
      errors: [401, 403, 404, 429, 503],
      success: 200,
      response: Type.Object({
        results: Type.Array(
          Type.Object({
            domain_id: uuid(),
            is_cname: Type.Boolean({ description: 'the default domain of the install' }),
            needs_proof: Type.Boolean({
              description: 'not served until its TXT record verifies the domain',
            }),
            ssl_reason: nullableString('one sentence that says why the authority issued no certificate'),
            checked_at: nullableString('time of the last check'),
            reached: Type.Unsafe<boolean | null>({
              type: ['boolean', 'null'],
              description: 'whether visitors arrived at the last check; null if it could not tell',
            }),
            report_id: nullableString('the last status report, while it is kept'),
            retry_at: nullableString('time of the next automatic order after a failed one'),
            certificate: Type.Unsafe<Static<typeof certificate> | null>({
              ...certificate,
              type: ['object', 'null'],
            }),
          }),
        ),
      }),
      handle: async ({ caller, id }) => ({ results: await domains.states(caller, id('install_id')) }),
    }),
  ];
}
