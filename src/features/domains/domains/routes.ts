import { bodyRoute, pagedRoute, type Route, route, Started } from '../../../api/route.ts';
import type { Static } from '../../../api/schema.ts';
import type { Clock } from '../../../lib/clock.ts';
import { defaultDomain } from '../../../lib/default-domain.ts';
import { challengeOf, ownershipDomainOf } from './ownership.ts';
import type { DomainOwnershipService } from './ownership-service.ts';
import {
  bulkDomainsBody,
  bulkDomainsSchema,
  createDomainBody,
  domainSchema,
  updateDomainBody,
  verificationSchema,
} from './schema.ts';
import type { DomainService, DomainView } from './service.ts';

/** Context for presenting domains. */
export interface PresentOptions {
  /** Parent of default domains, which other domains use as CNAME target. */
  siteDomain: string;
  clock: Clock;
}

function presentDomain(domain: DomainView, surroundings: PresentOptions): Static<typeof domainSchema> {
  return {
    id: domain.id,
    name: domain.name,
    duplicate: domain.is_taken && domain.is_duplicate,
    primary: domain.is_primary,
    network_type: 'AN',
    network_details: {
      dns_config_info: {
        cname: defaultDomain(domain.install.name, surroundings.siteDomain),
        a_records: domain.addresses,
      },
      network_info: {
        status: networkStatusOf(domain),
        ssl: { status: sslStatusAt(domain, surroundings.clock.now()) },
      },
    },
    redirects_to: [redirectTarget(domain)].filter((found) => found !== null),
    secure_all_urls: domain.secure_all_urls,
    ownership_status: isVerified(domain) ? 'TXT_VERIFIED' : 'TXT_VERIFICATION_PENDING',
    ...presentProof(domain),
  };
}

/** Default domains need no verification. */
function isVerified({ is_cname, verification }: DomainView): boolean {
  return is_cname || (verification !== null && verification.verified_at !== null);
}

function presentProof({ name, verification }: DomainView) {
  const challenge = verification && challengeOf(verification.registrable, verification.token);
  return {
    txt_verified_time: verification?.verified_at ?? null,
    txt_verified_domain: ownershipDomainOf(name),
    txt_verification_key: challenge?.key ?? null,
    txt_verification_value: challenge?.value ?? null,
  };
}

/** A served domain counts as FAILED if its visitors did not arrive at the last check. */
function networkStatusOf({ network_status, reached }: DomainView): DomainView['network_status'] {
  return network_status === 'ACTIVE' && reached === false ? 'FAILED' : network_status;
}

/** The stored status does not change when a certificate expires. */
function sslStatusAt({ ssl_status, certificate_not_after }: DomainView, now: Date): DomainView['ssl_status'] {
  const expired = certificate_not_after !== null && Date.parse(certificate_not_after) <= now.getTime();
  return ssl_status === 'active' && expired ? 'failed' : ssl_status;
}

function redirectTarget({
  redirect_to_id,
  redirect_to_name,
}: DomainView): { id: string; name: string } | null {
  return redirect_to_id === null || redirect_to_name === null
    ? null
    : { id: redirect_to_id, name: redirect_to_name };
}

function presentBulkDomain(domain: DomainView) {
  return {
    id: domain.id,
    name: domain.name,
    duplicate: domain.is_taken && domain.is_duplicate,
    primary: domain.is_primary,
    redirects_to: redirectTarget(domain),
  };
}

function presentBulk(domains: DomainView[]): Static<typeof bulkDomainsSchema> {
  const shapes = domains.map(presentBulkDomain);
  const [first] = shapes;
  if (!first) throw new Error('a bulk request has at least one domain');
  return { ...first, domains: shapes };
}

export function domainRoutes(
  { domains, ownership }: { domains: DomainService; ownership: DomainOwnershipService },
  surroundings: PresentOptions,
): Route[] {
  const tag = 'Domains';
  return [
    pagedRoute({
      path: '/installs/:install_id/domains',
      operationId: 'listDomains',
      summary: 'The domains of an install, oldest first',
      tag,
      errors: [401, 403, 404, 429, 503],
      item: domainSchema,
      async handle({ caller, id, page }) {
        const { count, results } = await domains.list(caller, id('install_id'), page);
        return { count, results: results.map((domain) => presentDomain(domain, surroundings)) };
      },
    }),
    bodyRoute({
      method: 'POST',
      path: '/installs/:install_id/domains',
      operationId: 'createDomain',
      summary: 'Add a domain to an install',
      tag,
      errors: [400, 401, 403, 429, 503],
      success: 201,
      starts: 'install.apply',
      response: domainSchema,
      body: createDomainBody(domains.faultOfName),
      async handle({ caller, id }, body) {
        const domain = await domains.create(caller, id('install_id'), body);
        return new Started(domain.operationId, presentDomain(domain, surroundings));
      },
    }),
    bodyRoute({
      method: 'POST',
      path: '/installs/:install_id/domains/bulk',
      operationId: 'createBulkDomains',
      summary: 'Add up to 20 domains, all or none',
      tag,
      errors: [400, 401, 403, 429, 503],
      success: 201,
      starts: 'install.apply',
      response: bulkDomainsSchema,
      body: bulkDomainsBody(domains.faultOfName),
      async handle({ caller, id }, body) {
        const added = await domains.createBulk(caller, id('install_id'), body.domains);
        return new Started(added.operationId, presentBulk(added.domains));
      },
    }),
    route({
      method: 'GET',
      path: '/installs/:install_id/domains/:domain_id',
      operationId: 'getDomain',
      summary: 'One domain',
      tag,
      errors: [401, 403, 404, 429, 503],
      success: 200,
      response: domainSchema,
      handle: async ({ caller, id }) =>
        presentDomain(await domains.get(caller, id('install_id'), id('domain_id')), surroundings),
    }),
    bodyRoute({
      method: 'PATCH',
      path: '/installs/:install_id/domains/:domain_id',
      operationId: 'updateDomain',
      summary: 'Make a domain primary, redirect it, or secure its URLs',
      tag,
      errors: [400, 401, 403, 404, 429, 503],
      success: 200,
      response: domainSchema,
      body: updateDomainBody,
      handle: async ({ caller, id }, body) =>
        presentDomain(await domains.update(caller, id('install_id'), id('domain_id'), body), surroundings),
    }),
    route({
      method: 'DELETE',
      path: '/installs/:install_id/domains/:domain_id',
      operationId: 'deleteDomain',
      summary: 'Remove a domain',
      tag,
      errors: [400, 401, 403, 404, 429, 503],
      success: 204,
      handle: ({ caller, id }) => domains.remove(caller, id('install_id'), id('domain_id')),
    }),
    route({
      method: 'POST',
      path: '/installs/:install_id/domains/:domain_id/verification',
      operationId: 'verifyDomain',
      summary: 'Verify a domain by its TXT record',
      tag,
      errors: [400, 401, 403, 404, 429, 500, 503],
      success: 200,
      response: verificationSchema,
      async handle({ caller, id }) {
        const domain = await ownership.verify(caller, id('install_id'), id('domain_id'));
        return { id: domain.id, name: domain.name, ...presentProof(domain) };
      },
    }),
  ];
}
