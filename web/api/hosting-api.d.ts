/** Homeport Hosting Customer API: written by `npm run web:types` from the server's own description. */

export interface paths {
  '/status': {
    get: {
      parameters: { query?: never; path?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { success: boolean; created_on: string } } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/accounts': {
    get: {
      parameters: { query?: { limit?: number; offset?: number }; path?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { previous: string | null; next: string | null; count: number; results: Array<{ id: string; name: string }> } } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/accounts/{account_id}': {
    get: {
      parameters: { query?: never; path: { account_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { id: string; name: string } } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/accounts/{account_id}/account_users': {
    get: {
      parameters: { query?: never; path: { account_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { results: Array<{ user_id: string; account_id: string; first_name: string; last_name: string; email: string; phone: string | null; invite_accepted: boolean; mfa_enabled: boolean; roles: string; last_owner?: boolean; installs?: Array<{ id: string; name: string }> }> } } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    put?: never;
    post: {
      parameters: { query?: never; path: { account_id: string }; header?: never; cookie?: never };
      requestBody: { content: { 'application/json': { user: { account_id: string; first_name: string; last_name: string; email: string; roles: "owner" | "full,billing" | "full" | "partial,billing" | "partial"; install_ids?: Array<string> } } } };
      responses: {
        201: { headers: Record<string, unknown>; content: { 'application/json': { message: string; account_user: { user_id: string; account_id: string; first_name: string; last_name: string; email: string; phone: string | null; invite_accepted: boolean; mfa_enabled: boolean; roles: string; last_owner?: boolean; installs?: Array<{ id: string; name: string }> } } } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/accounts/{account_id}/account_users/{user_id}': {
    get: {
      parameters: { query?: never; path: { account_id: string; user_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { user_id: string; account_id: string; first_name: string; last_name: string; email: string; phone: string | null; invite_accepted: boolean; mfa_enabled: boolean; roles: string; last_owner?: boolean; installs?: Array<{ id: string; name: string }> } } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    put?: never;
    post?: never;
    delete: {
      parameters: { query?: never; path: { account_id: string; user_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        204: { headers: Record<string, unknown>; content?: never };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    options?: never;
    head?: never;
    patch: {
      parameters: { query?: never; path: { account_id: string; user_id: string }; header?: never; cookie?: never };
      requestBody: { content: { 'application/json': { roles: "owner" | "full,billing" | "full" | "partial,billing" | "partial"; install_ids?: Array<string> } } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { message: string; account_user: { user_id: string; account_id: string; first_name: string; last_name: string; email: string; phone: string | null; invite_accepted: boolean; mfa_enabled: boolean; roles: string; last_owner?: boolean; installs?: Array<{ id: string; name: string }> } } } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        500: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    trace?: never;
  };
  '/sites': {
    get: {
      parameters: { query?: { limit?: number; offset?: number; account_id?: string }; path?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { previous: string | null; next: string | null; count: number; results: Array<{ id: string; name: string; account: { id: string }; group_name: string | null; tags: Array<string>; installs: Array<{ id: string; name: string; environment: "production" | "staging" | "development" | null; cname: string; php_version: string | null; is_multisite: boolean }>; created_at: string }> } } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    put?: never;
    post: {
      parameters: { query?: never; path?: never; header?: never; cookie?: never };
      requestBody: { content: { 'application/json': { name: string; account_id: string } } };
      responses: {
        201: { headers: Record<string, unknown>; content: { 'application/json': { id: string; name: string; account: { id: string }; group_name: string | null; tags: Array<string>; installs: Array<{ id: string; name: string; environment: "production" | "staging" | "development" | null; cname: string; php_version: string | null; is_multisite: boolean }>; created_at: string } } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/sites/{site_id}': {
    get: {
      parameters: { query?: never; path: { site_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { id: string; name: string; account: { id: string }; group_name: string | null; tags: Array<string>; installs: Array<{ id: string; name: string; environment: "production" | "staging" | "development" | null; cname: string; php_version: string | null; is_multisite: boolean }>; created_at: string } } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    put?: never;
    post?: never;
    delete: {
      parameters: { query?: never; path: { site_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        204: { headers: Record<string, unknown>; content?: never };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    options?: never;
    head?: never;
    patch: {
      parameters: { query?: never; path: { site_id: string }; header?: never; cookie?: never };
      requestBody: { content: { 'application/json': { name?: string } } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { id: string; name: string; account: { id: string }; group_name: string | null; tags: Array<string>; installs: Array<{ id: string; name: string; environment: "production" | "staging" | "development" | null; cname: string; php_version: string | null; is_multisite: boolean }>; created_at: string } } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    trace?: never;
  };
  '/installs': {
    get: {
      parameters: { query?: { limit?: number; offset?: number; account_id?: string }; path?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['InstallPage'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    put?: never;
    post: {
      parameters: { query?: never; path?: never; header?: never; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['CreateInstall'] } };
      responses: {
        201: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Install'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/installs/{install_id}': {
    get: {
      parameters: { query?: never; path: { install_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Install'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    put?: never;
    post?: never;
    delete: {
      parameters: { query?: never; path: { install_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        204: { headers: Record<string, unknown>; content?: never };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    options?: never;
    head?: never;
    patch: {
      parameters: { query?: never; path: { install_id: string }; header?: never; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['UpdateInstall'] } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Install'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    trace?: never;
  };
  '/installs/{install_id}/offload_settings/filestore_validation_file': {
    get: {
      parameters: { query?: never; path: { install_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { name: string; content: string } } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/installs/{install_id}/offload_settings/files': {
    get: {
      parameters: { query?: never; path: { install_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { filestore_settings: { cloud: "s3"; bucket: string; bucket_region: string; path_settings: Array<{ path: string; excluded_paths: Array<string>; redirect_type: "break" | "permanent" }> } } } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    put?: never;
    post: {
      parameters: { query?: never; path: { install_id: string }; header?: never; cookie?: never };
      requestBody: { content: { 'application/json': { filestore_settings: { cloud: "s3"; bucket: string; bucket_region: string; path_settings: Array<{ path: string; excluded_paths: Array<string>; redirect_type: "break" | "permanent" }> } } } };
      responses: {
        202: { headers: Record<string, unknown>; content?: never };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch: {
      parameters: { query?: never; path: { install_id: string }; header?: never; cookie?: never };
      requestBody: { content: { 'application/json': { filestore_settings: { cloud?: "s3"; bucket?: string; bucket_region?: string; path_settings?: Array<{ path: string; excluded_paths: Array<string>; redirect_type: "break" | "permanent" }> } } } };
      responses: {
        202: { headers: Record<string, unknown>; content?: never };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    trace?: never;
  };
  '/installs/{install_id}/domains': {
    get: {
      parameters: { query?: { limit?: number; offset?: number }; path: { install_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { previous: string | null; next: string | null; count: number; results: Array<{ id: string; name: string; duplicate: boolean; primary: boolean; network_type: "LEGACY" | "AN" | "GES"; network_details: { dns_config_info: { cname: string; a_records: Array<string> }; network_info: { status: "PENDING" | "ACTIVE" | "FAILED"; ssl: { status: "pending" | "active" | "failed" | "none" } } }; redirects_to: Array<{ id: string; name: string }>; secure_all_urls: boolean; ownership_status: "TXT_VERIFIED" | "TXT_VERIFICATION_PENDING"; txt_verified_time: string | null; txt_verified_domain: string; txt_verification_key: string | null; txt_verification_value: string | null }> } } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    put?: never;
    post: {
      parameters: { query?: never; path: { install_id: string }; header?: never; cookie?: never };
      requestBody: { content: { 'application/json': { name: string; primary?: boolean; redirect_to?: string | null } } };
      responses: {
        201: { headers: Record<string, unknown>; content: { 'application/json': { id: string; name: string; duplicate: boolean; primary: boolean; network_type: "LEGACY" | "AN" | "GES"; network_details: { dns_config_info: { cname: string; a_records: Array<string> }; network_info: { status: "PENDING" | "ACTIVE" | "FAILED"; ssl: { status: "pending" | "active" | "failed" | "none" } } }; redirects_to: Array<{ id: string; name: string }>; secure_all_urls: boolean; ownership_status: "TXT_VERIFIED" | "TXT_VERIFICATION_PENDING"; txt_verified_time: string | null; txt_verified_domain: string; txt_verification_key: string | null; txt_verification_value: string | null } } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/installs/{install_id}/domains/bulk': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path: { install_id: string }; header?: never; cookie?: never };
      requestBody: { content: { 'application/json': { domains: Array<{ name: string; redirect_to?: string | null }> } } };
      responses: {
        201: { headers: Record<string, unknown>; content: { 'application/json': { id: string; name: string; duplicate: boolean; primary: boolean; redirects_to: { id: string; name: string } | null; domains: Array<{ id: string; name: string; duplicate: boolean; primary: boolean; redirects_to: { id: string; name: string } | null }> } } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/installs/{install_id}/domains/{domain_id}': {
    get: {
      parameters: { query?: never; path: { install_id: string; domain_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { id: string; name: string; duplicate: boolean; primary: boolean; network_type: "LEGACY" | "AN" | "GES"; network_details: { dns_config_info: { cname: string; a_records: Array<string> }; network_info: { status: "PENDING" | "ACTIVE" | "FAILED"; ssl: { status: "pending" | "active" | "failed" | "none" } } }; redirects_to: Array<{ id: string; name: string }>; secure_all_urls: boolean; ownership_status: "TXT_VERIFIED" | "TXT_VERIFICATION_PENDING"; txt_verified_time: string | null; txt_verified_domain: string; txt_verification_key: string | null; txt_verification_value: string | null } } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    put?: never;
    post?: never;
    delete: {
      parameters: { query?: never; path: { install_id: string; domain_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        204: { headers: Record<string, unknown>; content?: never };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    options?: never;
    head?: never;
    patch: {
      parameters: { query?: never; path: { install_id: string; domain_id: string }; header?: never; cookie?: never };
      requestBody: { content: { 'application/json': { primary?: boolean; redirect_to?: string | null; secure_all_urls?: boolean } } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { id: string; name: string; duplicate: boolean; primary: boolean; network_type: "LEGACY" | "AN" | "GES"; network_details: { dns_config_info: { cname: string; a_records: Array<string> }; network_info: { status: "PENDING" | "ACTIVE" | "FAILED"; ssl: { status: "pending" | "active" | "failed" | "none" } } }; redirects_to: Array<{ id: string; name: string }>; secure_all_urls: boolean; ownership_status: "TXT_VERIFIED" | "TXT_VERIFICATION_PENDING"; txt_verified_time: string | null; txt_verified_domain: string; txt_verification_key: string | null; txt_verification_value: string | null } } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    trace?: never;
  };
  '/installs/{install_id}/domains/{domain_id}/verification': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path: { install_id: string; domain_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { id: string; name: string; txt_verified_time: string | null; txt_verified_domain: string; txt_verification_key: string | null; txt_verification_value: string | null } } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        500: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/installs/{install_id}/domains/{domain_id}/check_status': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path: { install_id: string; domain_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        202: { headers: Record<string, unknown>; content: { 'application/json': { report_id: string } } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        500: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/installs/{install_id}/domains/check_status/{report_id}': {
    get: {
      parameters: { query?: never; path: { install_id: string; report_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { report: { complete: boolean; id: string; install_name: string; install_ip: string; admin: boolean; domains: Array<{ name: string; cname: string; a_record: string; aaaa_record: string; result: string; dns_provider: string; install_name: string; cluster_id: string; http_forwarded: string; http_forwarded_list: string; platform_env_id: string; complete: boolean; dns_error: boolean; http_error: boolean; ns: Array<{ host: string }>; mx: Array<{ Host: string; Pref: number }>; txt: Array<string>; ip: Array<string>; address: Array<string>; soa: Array<{ hdr: { name: string; rrtype: number; class: number; ttl: number; rdlength: number }; ns: string; mbox: string; serial: number; refresh: number; retry: number; expire: number; minttl: number }>; caa: Array<{ hdr: { name: string; rrtype: number; class: number; ttl: number; rdlength: number }; flag: number; tag: string; value: string }>; aname: Array<{ hdr: { name: string; rrtype: number; class: number; ttl: number; rdlength: number }; a: string }>; ssl: { status: string; issuer: string; not_before: string; not_after: string; error: string; serial_number: string; common_name: string; dns_names: Array<string>; sans: Array<string>; signature_algorithm: number; subject: { common_name: string; organization: Array<string>; organizational_unit: Array<string>; country: Array<string>; province: Array<string>; locality: Array<string> } } }> } } } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        500: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/installs/{install_id}/domains/{domain_id}/ssl_certificate': {
    get: {
      parameters: { query?: never; path: { install_id: string; domain_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { cert_name: string; cert_info: { key: string; cert: string }; certificate: { id: number; account: string | null; auth_file: string | null; approver_email: string | null; common_name: string; cancel_time: string | null; cert_source: "LETS_ENCRYPT" | "THIRD_PARTY" | "SELF_SIGNED" | "CERT_SOURCE_UNSPECIFIED"; ordered_time: string; order_id: string | null; status: "ENABLED" | "DISABLED" | "EXPIRED" | "CANCELED" | "REJECTED" | "SUBMITTED" | "SSL_STATE_UNSPECIFIED"; parent_id: string | null; provider_order_id: string | null; approved_time: string; expires_time: string; auto_renew: boolean; wildcard: boolean; domains: Array<string> }; criteria: string } } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/installs/{install_id}/backups': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path: { install_id: string }; header?: never; cookie?: never };
      requestBody: { content: { 'application/json': { description: string; notification_emails: Array<string> } } };
      responses: {
        202: { headers: Record<string, unknown>; content: { 'application/json': { id: string; status: "requested" | "in_progress" | "completed" | "aborted" } } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/installs/{install_id}/backups/{backup_id}': {
    get: {
      parameters: { query?: never; path: { install_id: string; backup_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { id: string; status: "requested" | "in_progress" | "completed" | "aborted" } } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/installs/{install_id}/purge_cache': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path: { install_id: string }; header?: never; cookie?: never };
      requestBody: { content: { 'application/json': { type: "object" | "page" | "cdn" } } };
      responses: {
        202: { headers: Record<string, unknown>; content?: never };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/user': {
    get: {
      parameters: { query?: never; path?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { id: string; first_name: string; last_name: string; email: string; phone_number?: string } } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/ssh_keys': {
    get: {
      parameters: { query?: { limit?: number; offset?: number }; path?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { previous: string | null; next: string | null; count: number; results: Array<{ comment: string; created_at: string; fingerprint: string; uuid: string }> } } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    put?: never;
    post: {
      parameters: { query?: never; path?: never; header?: never; cookie?: never };
      requestBody: { content: { 'application/json': { public_key: string } } };
      responses: {
        201: { headers: Record<string, unknown>; content: { 'application/json': { comment: string; created_at: string; fingerprint: string; uuid: string } } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/ssh_keys/{ssh_key_id}': {
    get?: never;
    put?: never;
    post?: never;
    delete: {
      parameters: { query?: never; path: { ssh_key_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        204: { headers: Record<string, unknown>; content?: never };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/swagger': {
    get: {
      parameters: { query?: never; path?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': unknown } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
}

export interface components {
  schemas: {
    AccountReference: { id: string };
    CreateInstall: { name: string; account_id: string; site_id?: string | null; environment?: components['schemas']['Environment'] | null; php_version?: string | null };
    Environment: "production" | "staging" | "development";
    Error: { message: string; errors?: Array<components['schemas']['Fault']> };
    Fault: { resource: string; field: string; type: string; code: string; message: string };
    Install: { id: string; name: string; account: components['schemas']['AccountReference']; php_version: string | null; status: "pending" | "active" | "failed"; cname: string; environment: components['schemas']['Environment'] | null; site: components['schemas']['SiteReference'] | null; primary_domain: string; stable_ips: Array<string> | null; is_multisite: boolean; created_at: string };
    InstallPage: { previous: string | null; next: string | null; count: number; results: Array<components['schemas']['Install']> };
    SiteReference: { id: string };
    UpdateInstall: { site_id?: string | null; environment?: components['schemas']['Environment'] | null };
  };
}
