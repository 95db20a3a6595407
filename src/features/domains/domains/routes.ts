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
  const target = redirectTarget(domain);
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
    redirect_to: target,
    redirects_to: target === null ? [] : [target],
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
    redirect_to: redirectTarget(domain),
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
      summary: 'List the domains of an install',
      description: 'Lists the domains of an install, oldest first. The first is the default domain.',
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
      description:
        'Adds a domain. `network_details` says which DNS records it needs. A name that another install serves is accepted with `duplicate: true`, and is not served.',
      link: { operationId: 'getDomain', ids: { domain_id: '/id' } },
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
      summary: 'Add up to 20 domains to an install',
      description: 'Adds all domains or none. The answer is the first domain, with all of them in `domains`.',
      link: { operationId: 'getDomain', ids: { domain_id: '/id' } },
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
      summary: 'Get a domain',
      description: 'Returns one domain with its DNS target, its certificate status and its redirect.',
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
      summary: 'Change a domain',
      description:
        'Makes a domain primary, redirects it to another domain of the install, or redirects its HTTP URLs to HTTPS. `"nil"`, `""` or null in `redirect_to` removes a redirect.',
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
      description:
        'Removes a domain. The default domain, the primary domain and the target of a redirect cannot be removed.',
      tag,
      errors: [400, 401, 403, 404, 429, 503],
      success: 204,
      handle: ({ caller, id }) => domains.remove(caller, id('install_id'), id('domain_id')),
    }),
    route({
      method: 'POST',
      path: '/installs/:install_id/domains/:domain_id/verification',
      operationId: 'verifyDomainTxtRecord',
      summary: 'Verify a domain by its TXT record',
      description:
        'Looks up the TXT record that proves your ownership of the registrable domain. Before the first request, the answer names the record to create.',
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
