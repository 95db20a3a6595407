/** Homeport portal: written by `npm run web:types` from the server's own description. */

export interface paths {
  '/portal/api/session': {
    get: {
      parameters: { query?: never; path?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { stage: "second_factor" | "enrolment" | "full"; second_factors: Array<"one_time_code" | "passkey">; user: { id: string; email: string; first_name: string; last_name: string; phone: string | null; mfa_enabled: boolean }; accounts: Array<{ id: string; name: string; nickname: string | null; role: "owner" | "full" | "partial"; billing: boolean; requires_second_factor: boolean; may: { "account.read": "all" | "own" | "none"; "account.change": "all" | "own" | "none"; "member.read": "all" | "own" | "none"; "member.change": "all" | "own" | "none"; "site.read": "all" | "own" | "none"; "site.change": "all" | "own" | "none"; "site.transfer": "all" | "own" | "none"; "transfer.read": "all" | "own" | "none"; "install.read": "all" | "own" | "none"; "install.change": "all" | "own" | "none"; "install.work": "all" | "own" | "none"; "certificate.key": "all" | "own" | "none"; "event.read": "all" | "own" | "none"; "webhook.manage": "all" | "own" | "none"; "activity.read": "all" | "own" | "none" } }>; wordpress_features: Array<"wordpress_login" | "wordpress_details" | "wordpress_updates" | "wordpress_changes" | "wp_cli" | "database_access" | "php_versions" | "php_limits" | "mail" | "mail_limits" | "imports" | "logs" | "backup_parts" | "backup_tables" | "object_cache" | "shell"> } } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    put?: never;
    post: {
      parameters: { query?: never; path?: never; header?: never; cookie?: never };
      requestBody: { content: { 'application/json': { email: string; password: string } } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { stage: "second_factor" | "enrolment" | "full" } } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    delete: {
      parameters: { query?: never; path?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        204: { headers: Record<string, unknown>; content?: never };
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
  '/portal/api/session/passkey/options': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { challenge: string; rpId: string; timeout: number; userVerification: "required"; allowCredentials: Array<{ id: string; type: "public-key"; transports: Array<string> }> } } };
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
  '/portal/api/session/passkey': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path?: never; header?: never; cookie?: never };
      requestBody: { content: { 'application/json': { passkey: { id: string; response: { clientDataJSON: string; authenticatorData: string; signature: string; userHandle?: string } } } } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { stage: "second_factor" | "enrolment" | "full" } } };
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
  '/portal/api/session/second_factor/options': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { challenge: string; rpId: string; timeout: number; userVerification: "required"; allowCredentials: Array<{ id: string; type: "public-key"; transports: Array<string> }> } } };
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
  '/portal/api/session/second_factor': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path?: never; header?: never; cookie?: never };
      requestBody: { content: { 'application/json': { code?: string; passkey?: { id: string; response: { clientDataJSON: string; authenticatorData: string; signature: string; userHandle?: string } } } } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { stage: "second_factor" | "enrolment" | "full" } } };
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
  '/portal/api/sessions': {
    get: {
      parameters: { query?: never; path?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { results: Array<{ id: string; current: boolean; address: string; user_agent: string | null; created_at: string; last_seen_at: string; expires_at: string }> } } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    put?: never;
    post?: never;
    delete: {
      parameters: { query?: never; path?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        204: { headers: Record<string, unknown>; content?: never };
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
  '/portal/api/sessions/{session_id}': {
    get?: never;
    put?: never;
    post?: never;
    delete: {
      parameters: { query?: never; path: { session_id: string }; header?: never; cookie?: never };
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
    patch?: never;
    trace?: never;
  };
  '/portal/api/password_resets': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path?: never; header?: never; cookie?: never };
      requestBody: { content: { 'application/json': { email: string } } };
      responses: {
        202: { headers: Record<string, unknown>; content?: never };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/portal/api/password_links/{token}': {
    get: {
      parameters: { query?: never; path: { token: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { email: string; first_name: string; purpose: "first" | "reset"; api_credentials: number } } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    put?: never;
    post: {
      parameters: { query?: never; path: { token: string }; header?: never; cookie?: never };
      requestBody: { content: { 'application/json': { password: string; end_api_access?: boolean } } };
      responses: {
        204: { headers: Record<string, unknown>; content?: never };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/portal/api/password': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path?: never; header?: never; cookie?: never };
      requestBody: { content: { 'application/json': { current_password: string; password: string } } };
      responses: {
        204: { headers: Record<string, unknown>; content?: never };
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
  '/portal/api/second_factor': {
    get: {
      parameters: { query?: never; path?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { enabled: boolean; one_time_codes: boolean; passkeys: number; recovery_codes_left: number; required_by: Array<string> } } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    put?: never;
    post: {
      parameters: { query?: never; path?: never; header?: never; cookie?: never };
      requestBody: { content: { 'application/json': { code: string } } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { recovery_codes: Array<string> } } };
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
  '/portal/api/second_factor/enrolment': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path?: never; header?: never; cookie?: never };
      requestBody: { content: { 'application/json': { password?: string; code?: string; passkey?: { id: string; response: { clientDataJSON: string; authenticatorData: string; signature: string; userHandle?: string } } } } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { secret: string; uri: string } } };
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
  '/portal/api/second_factor/removal': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path?: never; header?: never; cookie?: never };
      requestBody: { content: { 'application/json': { code?: string; passkey?: { id: string; response: { clientDataJSON: string; authenticatorData: string; signature: string; userHandle?: string } } } } };
      responses: {
        204: { headers: Record<string, unknown>; content?: never };
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
  '/portal/api/second_factor/recovery_codes': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path?: never; header?: never; cookie?: never };
      requestBody: { content: { 'application/json': { code?: string; passkey?: { id: string; response: { clientDataJSON: string; authenticatorData: string; signature: string; userHandle?: string } } } } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { recovery_codes: Array<string> } } };
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
  '/portal/api/passkeys': {
    get: {
      parameters: { query?: never; path?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { available: boolean; results: Array<{ id: string; name: string; synced: boolean; created_at: string; last_used_at: string | null }> } } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    put?: never;
    post: {
      parameters: { query?: never; path?: never; header?: never; cookie?: never };
      requestBody: { content: { 'application/json': { credential: { id: string; response: { clientDataJSON: string; attestationObject: string; transports?: Array<string> } }; name?: string } } };
      responses: {
        201: { headers: Record<string, unknown>; content: { 'application/json': { passkey: { id: string; name: string; synced: boolean; created_at: string; last_used_at: string | null }; recovery_codes: Array<string> } } };
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
  '/portal/api/passkeys/options': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path?: never; header?: never; cookie?: never };
      requestBody: { content: { 'application/json': { password?: string; code?: string; passkey?: { id: string; response: { clientDataJSON: string; authenticatorData: string; signature: string; userHandle?: string } } } } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { challenge: string; rp: { id: string; name: string }; user: { id: string; name: string; displayName: string }; pubKeyCredParams: Array<{ type: "public-key"; alg: number }>; timeout: number; attestation: "none"; authenticatorSelection: { residentKey: "required"; requireResidentKey: boolean; userVerification: "required" }; excludeCredentials: Array<{ id: string; type: "public-key"; transports: Array<string> }> } } };
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
  '/portal/api/passkeys/confirmation_options': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { challenge: string; rpId: string; timeout: number; userVerification: "required"; allowCredentials: Array<{ id: string; type: "public-key"; transports: Array<string> }> } } };
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
  '/portal/api/passkeys/{passkey_id}': {
    get?: never;
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch: {
      parameters: { query?: never; path: { passkey_id: string }; header?: never; cookie?: never };
      requestBody: { content: { 'application/json': { name: string } } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { id: string; name: string; synced: boolean; created_at: string; last_used_at: string | null } } };
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
  '/portal/api/passkeys/{passkey_id}/removal': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path: { passkey_id: string }; header?: never; cookie?: never };
      requestBody: { content: { 'application/json': { code?: string; passkey?: { id: string; response: { clientDataJSON: string; authenticatorData: string; signature: string; userHandle?: string } } } } };
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
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/portal/api/profile': {
    get: {
      parameters: { query?: never; path?: never; header?: { "If-None-Match"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { id: string; email: string; first_name: string; last_name: string; phone: string | null; mfa_enabled: boolean } } };
        304: { headers: Record<string, unknown>; content?: never };
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
    patch: {
      parameters: { query?: never; path?: never; header?: { "If-Match"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': { first_name?: string; last_name?: string; phone?: string | null } } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { id: string; email: string; first_name: string; last_name: string; phone: string | null; mfa_enabled: boolean } } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        412: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    trace?: never;
  };
  '/portal/api/email_changes': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path?: never; header?: never; cookie?: never };
      requestBody: { content: { 'application/json': { email: string; current_password: string; code?: string; passkey?: { id: string; response: { clientDataJSON: string; authenticatorData: string; signature: string; userHandle?: string } } } } };
      responses: {
        202: { headers: Record<string, unknown>; content?: never };
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
  '/portal/api/email_changes/{token}': {
    get: {
      parameters: { query?: never; path: { token: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { email: string } } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    put?: never;
    post: {
      parameters: { query?: never; path: { token: string }; header?: never; cookie?: never };
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
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/portal/api/credentials': {
    get: {
      parameters: { query?: { limit?: number; offset?: number }; path?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['CredentialPage'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    put?: never;
    post: {
      parameters: { query?: never; path?: never; header?: never; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['CreateCredential'] } };
      responses: {
        201: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['IssuedCredential'] } };
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
  '/portal/api/credentials/{credential_id}': {
    get?: never;
    put?: never;
    post?: never;
    delete: {
      parameters: { query?: never; path: { credential_id: string }; header?: never; cookie?: never };
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
    patch?: never;
    trace?: never;
  };
  '/portal/api/api_certificate': {
    get: {
      parameters: { query?: never; path?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { certificate: string | null } } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/portal/api/ssh_keys': {
    get: {
      parameters: { query?: { limit?: number; offset?: number }; path?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { previous: string | null; next: string | null; count: number; results: Array<{ id: string; comment: string; fingerprint_sha256: string; fingerprint_md5: string; created_at: string }> } } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/portal/api/invitations/{token}': {
    get: {
      parameters: { query?: never; path: { token: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { account_name: string; first_name: string; email: string; has_password: boolean } } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    put?: never;
    post: {
      parameters: { query?: never; path: { token: string }; header?: never; cookie?: never };
      requestBody: { content: { 'application/json': { password?: string } } };
      responses: {
        204: { headers: Record<string, unknown>; content?: never };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    delete: {
      parameters: { query?: never; path: { token: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        204: { headers: Record<string, unknown>; content?: never };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/portal/api/accounts/{account_id}/account_users/{user_id}/invitation': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path: { account_id: string; user_id: string }; header?: never; cookie?: never };
      requestBody?: never;
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
  '/portal/api/accounts/{account_id}': {
    get: {
      parameters: { query?: never; path: { account_id: string }; header?: { "If-None-Match"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { id: string; name: string; nickname: string | null; requires_second_factor: boolean } } };
        304: { headers: Record<string, unknown>; content?: never };
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
    patch: {
      parameters: { query?: never; path: { account_id: string }; header?: { "If-Match"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': { name?: string; nickname?: string | null; requires_second_factor?: boolean } } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { id: string; name: string; nickname: string | null; requires_second_factor: boolean } } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        412: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    trace?: never;
  };
  '/portal/api/accounts/{account_id}/membership': {
    get?: never;
    put?: never;
    post?: never;
    delete: {
      parameters: { query?: never; path: { account_id: string }; header?: never; cookie?: never };
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
    patch?: never;
    trace?: never;
  };
  '/portal/api/accounts/{account_id}/activity': {
    get: {
      parameters: { query?: { limit?: number; offset?: number; user_id?: string; install_id?: string; kind?: "account" | "account_user" | "site" | "tag" | "site_transfer" | "install" | "domain" | "certificate" | "backup" | "cache" | "operation" | "offload" | "protection" | "redirect" | "ssh_key" | "credential" | "session" | "password" | "second_factor" | "passkey" | "profile" | "webhook"; since?: string; until?: string }; path: { account_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['ActivityEntryPage'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/portal/api/accounts/{account_id}/activity.csv': {
    get: {
      parameters: { query?: { user_id?: string; install_id?: string; kind?: "account" | "account_user" | "site" | "tag" | "site_transfer" | "install" | "domain" | "certificate" | "backup" | "cache" | "operation" | "offload" | "protection" | "redirect" | "ssh_key" | "credential" | "session" | "password" | "second_factor" | "passkey" | "profile" | "webhook"; since?: string; until?: string }; path: { account_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content?: never };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/portal/api/accounts/{account_id}/activity/people': {
    get: {
      parameters: { query?: never; path: { account_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { results: Array<{ user_id: string; user_name: string }> } } };
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
  '/portal/api/search': {
    get: {
      parameters: { query?: { search?: string; account_id?: string }; path?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { results: Array<{ kind: "site" | "install" | "domain" | "tag"; id: string; name: string; install: string | null; site: string | null; environment: string | null; account: { id: string; name: string } }>; more: boolean } } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/portal/api/accounts/{account_id}/installs': {
    get: {
      parameters: { query?: { search?: string; status?: "attention" | "pending" | "active" | "failed"; environment?: "none" | "production" | "staging" | "development"; site?: string; tags?: string; sort?: "name" | "-name" | "domain" | "-domain" | "status" | "-status" | "environment" | "-environment" | "site" | "-site" | "php" | "-php" | "updates" | "-updates" | "created" | "-created"; limit?: number; offset?: number }; path: { account_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { total: number; count: number; results: Array<{ id: string; name: string; status: "pending" | "active" | "failed"; environment: "production" | "staging" | "development" | null; site_id: string | null; site_name: string | null; tags: Array<string>; php_version: string | null; primary_domain: string; matched_domain: string | null; core_update: string | null; plugin_updates: number; theme_updates: number; reasons: Array<{ kind: "install_failed" | "data_lost" | "backup_failed" | "domain_not_reached" | "certificate_missing" | "certificate_ends"; domain: string | null; at: string | null; reason: string | null; retry_operation_id: string | null }>; created_at: string }> } } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/portal/api/accounts/{account_id}/sites': {
    get: {
      parameters: { query?: { search?: string; tags?: string; sort?: "name" | "-name" | "installs" | "-installs" | "created" | "-created"; limit?: number; offset?: number }; path: { account_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { total: number; count: number; unassigned: number; results: Array<{ id: string; name: string; tags: Array<string>; created_at: string; installs: Array<{ id: string; name: string; environment: "production" | "staging" | "development" | null; status: "pending" | "active" | "failed"; needs_attention: boolean; matched_domain: string | null }> }> } } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/portal/api/accounts/{account_id}/matching_installs': {
    get: {
      parameters: { query?: { search?: string; status?: "attention" | "pending" | "active" | "failed"; environment?: "none" | "production" | "staging" | "development"; site?: string; tags?: string; ids?: string }; path: { account_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { results: Array<{ id: string; name: string; php_version: string | null; site_id: string | null; tags: Array<string> }> } } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/portal/api/accounts/{account_id}/attention': {
    get: {
      parameters: { query?: { install_id?: string; limit?: number; offset?: number }; path: { account_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { count: number; results: Array<{ install_id: string; install_name: string; reasons: Array<{ kind: "install_failed" | "data_lost" | "backup_failed" | "domain_not_reached" | "certificate_missing" | "certificate_ends"; domain: string | null; at: string | null; reason: string | null; retry_operation_id: string | null }> }> } } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/portal/api/accounts/{account_id}/onboarding': {
    get: {
      parameters: { query?: never; path: { account_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { site: boolean; install: boolean; domain: boolean; backup: boolean; daily_backups: boolean; person: boolean } } };
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
  '/portal/api/accounts/{account_id}/usage/days': {
    get: {
      parameters: { query?: never; path: { account_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { results: Array<{ date: string; visit_count: string; network_total_bytes: string }> } } };
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
  '/portal/api/events': {
    get: {
      parameters: { query?: never; path?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content?: never };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/portal/api/installs/operations': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path?: never; header?: never; cookie?: never };
      requestBody: { content: { 'application/json': { operation: "backup" | "purge_page_cache" | "purge_object_cache" | "purge_all_caches"; description?: string | null; install_ids: Array<string> } } };
      responses: {
        202: { headers: Record<string, unknown>; content: { 'application/json': { results: Array<{ install_id: string; operation_id: string | null; refusal: { message: string; retry_after_seconds: number | null } | null }> } } };
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
  '/portal/api/installs/{install_id}/operations': {
    get: {
      parameters: { query?: never; path: { install_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { results: Array<{ id: string; kind: "install.create" | "install.apply" | "install.copy" | "install.import" | "install.delete" | "backup.create" | "backup.restore" | "backup.delete" | "archive.create" | "domain.check" | "certificate.order" | "cache.purge" | "offload.configure" | "wordpress.read" | "wordpress.update" | "wordpress.change" | "install.update_php" | "install.update_php_limits" | "install.restart_php" | "wordpress.cli" | "site.transfer"; status: "queued" | "running" | "succeeded" | "failed" | "cancelled"; account_id: string; install: components['schemas']['OperationInstall'] | null; created_at: string; started_at: string | null; finished_at: string | null; progress: components['schemas']['OperationProgress'] | null; error: components['schemas']['OperationError'] | null; result: components['schemas']['OperationResult'] | null; attempt: number; cancellable: boolean; retryable: boolean; cache: "object" | "page" | "cdn" | "all" | null; pages: { count: number; first: string } | null; backup: { id: string; description: string; created_at: string } | null; domain: { id: string; name: string } | null; copy: { from: string | null; step: "waiting" | "backing_up" | "restoring" | null } | null }>; caches: Array<"object" | "page" | "cdn">; next: { purge_object: string | null; check_status: string | null; verify_domain: string | null; order_certificate: string | null } } } };
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
  '/portal/api/operations/read': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path?: never; header?: never; cookie?: never };
      requestBody: { content: { 'application/json': { operation_ids: Array<string> } } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { results: Array<components['schemas']['Operation']> } } };
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
  '/portal/api/install_options': {
    get: {
      parameters: { query?: never; path?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { php_versions: Array<string>; runtimes: Array<"wordpress" | "static">; site_domain: string } } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/portal/api/installs/{install_id}/php_versions': {
    get: {
      parameters: { query?: never; path: { install_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { versions: Array<string> } } };
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
  '/portal/api/installs/{install_id}/connection': {
    get: {
      parameters: { query?: never; path: { install_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { connection: { host: string; port: number; username: string; shell: boolean; host_keys: Array<{ type: string; fingerprint: string; known_hosts: string }>; http_url: string; https_url: string; website_url: string } | null } } };
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
  '/portal/api/installs/{install_id}/domain_states': {
    get: {
      parameters: { query?: never; path: { install_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { results: Array<{ domain_id: string; is_cname: boolean; needs_proof: boolean; ssl_reason: string | null; checked_at: string | null; reached: boolean | null; report_id: string | null; retry_at: string | null; certificate: { source: "LETS_ENCRYPT" | "THIRD_PARTY" | "SELF_SIGNED"; id: number; not_after: string; renew_at: string | null } | null }> } } };
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
  '/portal/api/installs/{install_id}/domains/{domain_id}/private_key': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path: { install_id: string; domain_id: string }; header?: never; cookie?: never };
      requestBody: { content: { 'application/json': { current_password: string } } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { private_key: string } } };
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
  '/portal/api/installs/{install_id}/domains/check_all': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path: { install_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        202: { headers: Record<string, unknown>; content: { 'application/json': { report_ids: Array<string> } } };
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
  '/portal/api/installs/{install_id}/backups': {
    get: {
      parameters: { query?: { limit?: number; offset?: number }; path: { install_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { previous: string | null; next: string | null; count: number; results: Array<{ id: string; description: string; status: "requested" | "in_progress" | "completed" | "aborted"; bytes: number | null; files: number | null; reason: string | null; scheduled: boolean; checkpoint: boolean; for_copy: boolean; created_at: string; finished_at: string | null; verified_at: string | null; missing_since: string | null; expires_at: string | null }> } } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/portal/api/installs/{install_id}/backups/{backup_id}/restore': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path: { install_id: string; backup_id: string }; header?: never; cookie?: never };
      requestBody: { content: { 'application/json': { into_install_id?: string | null; restore_files?: boolean; restore_database?: boolean; create_checkpoint?: boolean } } };
      responses: {
        202: { headers: Record<string, unknown>; content: { 'application/json': { operation_id: string } } };
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
  '/portal/api/installs/{install_id}/copy': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path: { install_id: string }; header?: never; cookie?: never };
      requestBody: { content: { 'application/json': { into_install_id: string; keep_backup?: boolean; create_checkpoint?: boolean; include_files?: boolean; include_db?: boolean; db_tables?: Array<string> } } };
      responses: {
        202: { headers: Record<string, unknown>; content: { 'application/json': { operation_id: string } } };
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
  '/portal/api/installs/{install_id}/archives': {
    get: {
      parameters: { query?: { limit?: number; offset?: number }; path: { install_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { previous: string | null; next: string | null; count: number; results: Array<{ id: string; state: "requested" | "in_progress" | "completed" | "aborted"; bytes: number | null; reason: string | null; created_at: string; expires_at: string | null; backup_description: string | null; download_uri: string | null }> } } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/portal/api/installs/{install_id}/offload': {
    get: {
      parameters: { query?: never; path: { install_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { state: "requested" | "in_force" | "refused" | "removing" | null; reason: string | null; updated_at: string | null } } };
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
  '/portal/api/description': {
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
    ActivityEntry: { id: string; at: string; action: "account.create" | "account.update" | "account.limit" | "account_user.invite" | "account_user.add" | "account_user.accept" | "account_user.update" | "account_user.remove" | "site.create" | "site.update" | "site.delete" | "tag.rename" | "tag.remove" | "site_transfer.request" | "site_transfer.accept" | "site_transfer.cancel" | "site_transfer.complete" | "site_transfer.fail" | "install.create" | "install.update" | "install.delete" | "install.restore" | "install.switch_core" | "install.update_php" | "install.update_wordpress" | "install.change_wordpress" | "install.update_policy" | "install.copy" | "install.import" | "install.create_import_key" | "install.renew_import_key" | "install.delete_import_key" | "install.login_link" | "install.database_link" | "install.update_mail" | "install.wp_cli" | "install.update_php_limits" | "install.restart_php" | "domain.create" | "domain.update" | "domain.delete" | "domain.verify" | "domain.lose" | "certificate.order" | "certificate.upload" | "certificate.read_key" | "backup.create" | "backup.restore" | "backup.delete" | "backup.pack" | "cache.purge" | "cache.rules" | "operation.cancel" | "operation.retry" | "offload.update" | "offload.remove" | "protection.update" | "redirect.create" | "redirect.update" | "redirect.delete" | "redirect.import" | "ssh_key.create" | "ssh_key.delete" | "credential.create" | "credential.revoke" | "session.create" | "session.end" | "password.link" | "password.set" | "password.change" | "second_factor.enable" | "second_factor.disable" | "second_factor.renew_codes" | "second_factor.refuse" | "passkey.create" | "passkey.update" | "passkey.delete" | "passkey.refuse" | "profile.update" | "webhook.create" | "webhook.update" | "webhook.delete" | "webhook.disable" | "webhook.test" | "webhook.redeliver"; subject_id: string | null; subject_name: string; install_id: string | null; install_name: string | null; details: Record<string, string | number | boolean | null> | null; user_id: string | null; user_name: string; means: "api" | "portal" | "command_line" | "platform"; credential_id: string | null; credential_name: string | null; address: string | null; request_id: string | null };
    ActivityEntryPage: { previous: string | null; next: string | null; count: number; results: Array<components['schemas']['ActivityEntry']> };
    CreateCredential: { name: string; expires_at?: string | null; read_only?: boolean; account_id?: string | null; install_ids?: Array<string> | null };
    Credential: { id: string; name: string; read_only: boolean; account: components['schemas']['NamedReference'] | null; installs: Array<components['schemas']['NamedReference']> | null; expires_at: string | null; revoked_at: string | null; last_used_at: string | null; created_at: string };
    CredentialPage: { previous: string | null; next: string | null; count: number; results: Array<components['schemas']['Credential']> };
    Error: { message: string; errors?: Array<components['schemas']['Fault']> };
    Fault: { resource: string; field: string; type: string; code: string; message: string };
    IssuedCredential: { id: string; name: string; read_only: boolean; account: components['schemas']['NamedReference'] | null; installs: Array<components['schemas']['NamedReference']> | null; expires_at: string | null; revoked_at: string | null; last_used_at: string | null; created_at: string; password: string };
    NamedReference: { id: string; name: string };
    Operation: { id: string; kind: "install.create" | "install.apply" | "install.copy" | "install.import" | "install.delete" | "backup.create" | "backup.restore" | "backup.delete" | "archive.create" | "domain.check" | "certificate.order" | "cache.purge" | "offload.configure" | "wordpress.read" | "wordpress.update" | "wordpress.change" | "install.update_php" | "install.update_php_limits" | "install.restart_php" | "wordpress.cli" | "site.transfer"; status: "queued" | "running" | "succeeded" | "failed" | "cancelled"; account_id: string; install: components['schemas']['OperationInstall'] | null; created_at: string; started_at: string | null; finished_at: string | null; progress: components['schemas']['OperationProgress'] | null; error: components['schemas']['OperationError'] | null; result: components['schemas']['OperationResult'] | null };
    OperationError: { code: "unexpected" | "timed_out" | "interrupted" | "set_aside" | "outdated" | "waiting" | "host_unreachable" | "disk_full" | "host_refused" | "website_missing" | "source_missing" | "source_backup_failed" | "checkpoint_failed" | "not_restored" | "rolled_back" | "pages_differ" | "change_refused" | "import_refused" | "storage_refused" | "validation_file_missing" | "validation_file_wrong" | "cdn_refused" | "certificate_refused" | "urls_not_replaced" | "certificate_paused" | "failed"; message: string; advice: string | null };
    OperationInstall: { id: string; name: string };
    OperationProgress: { done: number; total: number | null; unit: "bytes" | "files"; step: string | null };
    OperationResult: Record<string, string>;
  };
}
