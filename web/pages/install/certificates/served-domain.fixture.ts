import type { Domain, DomainState } from '../../../api/domains.ts';
import type { ServedDomain } from './listed-certificates.ts';

/** A verified domain with these differences. */
export function served(
  name: string,
  state: Partial<DomainState> = {},
  {
    ssl = 'active',
    duplicate = false,
  }: { ssl?: Domain['network_details']['network_info']['ssl']['status']; duplicate?: boolean } = {},
): ServedDomain {
  return {
    domain: {
      id: name,
      name,
      duplicate,
      primary: false,
      network_type: 'AN',
      network_details: {
        dns_config_info: { cname: '', a_records: [] },
        network_info: { status: 'ACTIVE', ssl: { status: ssl } },
      },
      redirect_to: null,
      redirects_to: [],
      secure_all_urls: false,
      ownership_status: 'TXT_VERIFICATION_PENDING',
      txt_verified_time: null,
      txt_verified_domain: name,
      txt_verification_key: null,
      txt_verification_value: null,
    },
    state: {
      domain_id: name,
      is_cname: false,
      needs_proof: false,
      ssl_reason: null,
      checked_at: null,
      reached: null,
      report_id: null,
      retry_at: null,
      certificate: null,
      ...state,
    },
  };
}
