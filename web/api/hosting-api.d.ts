/** Homeport Hosting Customer API: written by `npm run web:types` from the server's own description. */

export interface paths {
  '/status': {
    get: {
      parameters: { query?: never; path?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Status'] } };
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
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['AccountPage'] } };
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
      parameters: { query?: never; path: { account_id: string }; header?: { "If-None-Match"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Account'] } };
        304: { headers: Record<string, unknown>; content?: never };
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
      parameters: { query?: never; path: { account_id: string }; header?: { "If-None-Match"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['AccountUserList'] } };
        304: { headers: Record<string, unknown>; content?: never };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    put?: never;
    post: {
      parameters: { query?: never; path: { account_id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['CreateAccountUser'] } };
      responses: {
        201: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['AccountUserChange'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
      parameters: { query?: never; path: { account_id: string; user_id: string }; header?: { "If-None-Match"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['AccountUser'] } };
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
    delete: {
      parameters: { query?: never; path: { account_id: string; user_id: string }; header?: { "If-Match"?: string; "Idempotency-Key"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        204: { headers: Record<string, unknown>; content?: never };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        412: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    options?: never;
    head?: never;
    patch: {
      parameters: { query?: never; path: { account_id: string; user_id: string }; header?: { "If-Match"?: string; "Idempotency-Key"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['UpdateAccountUser'] } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['AccountUserChange'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        412: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        500: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    trace?: never;
  };
  '/sites': {
    get: {
      parameters: { query?: { limit?: number; offset?: number; sort?: "name" | "-name" | "created_at" | "-created_at"; cursor?: string; account_id?: string; name?: string; tags?: string }; path?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['SitePage'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    put?: never;
    post: {
      parameters: { query?: never; path?: never; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['CreateSite'] } };
      responses: {
        201: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Site'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
      parameters: { query?: never; path: { site_id: string }; header?: { "If-None-Match"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Site'] } };
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
    delete: {
      parameters: { query?: never; path: { site_id: string }; header?: { "If-Match"?: string; "Idempotency-Key"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        204: { headers: Record<string, unknown>; content?: never };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        412: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    options?: never;
    head?: never;
    patch: {
      parameters: { query?: never; path: { site_id: string }; header?: { "If-Match"?: string; "Idempotency-Key"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['UpdateSite'] } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Site'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        412: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    trace?: never;
  };
  '/accounts/{account_id}/tags': {
    get: {
      parameters: { query?: never; path: { account_id: string }; header?: { "If-None-Match"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['AccountTagList'] } };
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
    patch?: never;
    trace?: never;
  };
  '/accounts/{account_id}/tags/change': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path: { account_id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['ChangeTags'] } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['ChangedTags'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/accounts/{account_id}/tags/rename': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path: { account_id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['RenameTag'] } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['AccountTag'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/accounts/{account_id}/tags/remove': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path: { account_id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['RemoveTag'] } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['RemovedTag'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/accounts/{account_id}/site_transfers': {
    get: {
      parameters: { query?: { limit?: number; offset?: number }; path: { account_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['SiteTransferPage'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/accounts/{account_id}/site_transfers/{transfer_id}/accept': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path: { account_id: string; transfer_id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['SiteTransfer'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        409: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/sites/{site_id}/site_transfers': {
    get: {
      parameters: { query?: { limit?: number; offset?: number }; path: { site_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['SiteTransferPage'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        500: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    put?: never;
    post: {
      parameters: { query?: never; path: { site_id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['CreateSiteTransfer'] } };
      responses: {
        202: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['SiteTransfer'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        409: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/sites/{site_id}/site_transfers/{transfer_id}': {
    get: {
      parameters: { query?: never; path: { site_id: string; transfer_id: string }; header?: { "If-None-Match"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['SiteTransfer'] } };
        304: { headers: Record<string, unknown>; content?: never };
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
    delete: {
      parameters: { query?: never; path: { site_id: string; transfer_id: string }; header?: { "If-Match"?: string; "Idempotency-Key"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        204: { headers: Record<string, unknown>; content?: never };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        409: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        412: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        500: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/installs': {
    get: {
      parameters: { query?: { limit?: number; offset?: number; sort?: "name" | "-name" | "created_at" | "-created_at"; cursor?: string; account_id?: string; name?: string; status?: "pending" | "active" | "failed"; environment?: "production" | "staging" | "development"; site_id?: string; domain?: string; tags?: string }; path?: never; header?: never; cookie?: never };
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
      parameters: { query?: never; path?: never; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['CreateInstall'] } };
      responses: {
        201: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Install'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
      parameters: { query?: never; path: { install_id: string }; header?: { "If-None-Match"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Install'] } };
        304: { headers: Record<string, unknown>; content?: never };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    put?: never;
    post?: never;
    delete: {
      parameters: { query?: never; path: { install_id: string }; header?: { "If-Match"?: string; "Idempotency-Key"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        204: { headers: Record<string, unknown>; content?: never };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        412: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    options?: never;
    head?: never;
    patch: {
      parameters: { query?: never; path: { install_id: string }; header?: { "If-Match"?: string; "Idempotency-Key"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['UpdateInstall'] } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Install'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        412: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    trace?: never;
  };
  '/installs/{install_id}/offload_settings/filestore_validation_file': {
    get: {
      parameters: { query?: never; path: { install_id: string }; header?: { "If-None-Match"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['OffloadValidationFile'] } };
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
    patch?: never;
    trace?: never;
  };
  '/installs/{install_id}/offload_settings/files': {
    get: {
      parameters: { query?: never; path: { install_id: string }; header?: { "If-None-Match"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['OffloadSettings'] } };
        304: { headers: Record<string, unknown>; content?: never };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    put?: never;
    post: {
      parameters: { query?: never; path: { install_id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['OffloadSettings'] } };
      responses: {
        202: { headers: Record<string, unknown>; content?: never };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    delete: {
      parameters: { query?: never; path: { install_id: string }; header?: { "If-Match"?: string; "Idempotency-Key"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        202: { headers: Record<string, unknown>; content?: never };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        412: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    options?: never;
    head?: never;
    patch: {
      parameters: { query?: never; path: { install_id: string }; header?: { "If-Match"?: string; "Idempotency-Key"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['UpdateOffloadSettings'] } };
      responses: {
        202: { headers: Record<string, unknown>; content?: never };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        412: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['DomainPage'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    put?: never;
    post: {
      parameters: { query?: never; path: { install_id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['CreateDomain'] } };
      responses: {
        201: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Domain'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
      parameters: { query?: never; path: { install_id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['CreateBulkDomains'] } };
      responses: {
        201: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['BulkDomains'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
      parameters: { query?: never; path: { install_id: string; domain_id: string }; header?: { "If-None-Match"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Domain'] } };
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
    delete: {
      parameters: { query?: never; path: { install_id: string; domain_id: string }; header?: { "If-Match"?: string; "Idempotency-Key"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        204: { headers: Record<string, unknown>; content?: never };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        412: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    options?: never;
    head?: never;
    patch: {
      parameters: { query?: never; path: { install_id: string; domain_id: string }; header?: { "If-Match"?: string; "Idempotency-Key"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['UpdateDomain'] } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Domain'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        412: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
      parameters: { query?: never; path: { install_id: string; domain_id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['DomainVerification'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
      parameters: { query?: never; path: { install_id: string; domain_id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        202: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['StatusReportReference'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
      parameters: { query?: never; path: { install_id: string; report_id: string }; header?: { "If-None-Match"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['StatusReportEnvelope'] } };
        304: { headers: Record<string, unknown>; content?: never };
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
  '/installs/{install_id}/ssl_certificates': {
    get: {
      parameters: { query?: { limit?: number; offset?: number }; path: { install_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['CertificateList'] } };
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
  '/installs/{install_id}/ssl_certificates/third_party': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path: { install_id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['ImportThirdPartyCertificate'] } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['ThirdPartyCertificate'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/installs/{install_id}/domains/{domain_id}/ssl_certificate': {
    get: {
      parameters: { query?: never; path: { install_id: string; domain_id: string }; header?: { "If-None-Match"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['CertificateInformation'] } };
        304: { headers: Record<string, unknown>; content?: never };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    put?: never;
    post: {
      parameters: { query?: never; path: { install_id: string; domain_id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['OrderCertificate'] } };
      responses: {
        202: { headers: Record<string, unknown>; content?: never };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/installs/{install_id}/backups': {
    get: {
      parameters: { query?: { limit?: number; offset?: number }; path: { install_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['BackupPage'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        502: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    put?: never;
    post: {
      parameters: { query?: never; path: { install_id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['CreateBackup'] } };
      responses: {
        202: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['RequestedBackup'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
      parameters: { query?: never; path: { install_id: string; backup_id: string }; header?: { "If-None-Match"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Backup'] } };
        304: { headers: Record<string, unknown>; content?: never };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    put?: never;
    post?: never;
    delete: {
      parameters: { query?: never; path: { install_id: string; backup_id: string }; header?: { "If-Match"?: string; "Idempotency-Key"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        204: { headers: Record<string, unknown>; content?: never };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        409: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        412: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/installs/{install_id}/backups/{backup_id}/restore': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path: { install_id: string; backup_id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['RestoreBackup'] } };
      responses: {
        202: { headers: Record<string, unknown>; content?: never };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        500: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        502: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/install_copy': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path?: never; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['CopyInstall'] } };
      responses: {
        202: { headers: Record<string, unknown>; content?: never };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        500: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        502: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/installs/{install_id}/staging': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path: { install_id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['CreateStaging'] } };
      responses: {
        202: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Install'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        409: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/installs/{install_id}/push': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path: { install_id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['PushInstall'] } };
      responses: {
        202: { headers: Record<string, unknown>; content?: never };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        409: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/installs/{install_id}/imports': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path: { install_id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['ImportWebsite'] } };
      responses: {
        202: { headers: Record<string, unknown>; content?: never };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        409: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/installs/{install_id}/import_key': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path: { install_id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        201: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['ImportKey'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        409: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    delete: {
      parameters: { query?: never; path: { install_id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        204: { headers: Record<string, unknown>; content?: never };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/installs/{install_id}/import_key/renewal': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path: { install_id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        201: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['ImportKey'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        409: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/installs/{install_id}/archives': {
    get: {
      parameters: { query?: { limit?: number; offset?: number }; path: { install_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['ArchivePage'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        500: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    put?: never;
    post: {
      parameters: { query?: never; path: { install_id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['CreateArchive'] } };
      responses: {
        202: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Archive'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/installs/{install_id}/purge_cache': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path: { install_id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['PurgeCache'] } };
      responses: {
        202: { headers: Record<string, unknown>; content?: never };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/installs/{install_id}/capabilities': {
    get: {
      parameters: { query?: never; path: { install_id: string }; header?: { "If-None-Match"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['InstallCapabilities'] } };
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
    patch?: never;
    trace?: never;
  };
  '/installs/{install_id}/wordpress/login_links': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path: { install_id: string }; header?: never; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['CreateLoginLink'] } };
      responses: {
        201: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['LoginLink'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        409: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        502: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/installs/{install_id}/database/login_links': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path: { install_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        201: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['DatabaseLink'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        409: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        502: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/installs/{install_id}/mail': {
    get: {
      parameters: { query?: never; path: { install_id: string }; header?: { "If-None-Match"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['InstallMail'] } };
        304: { headers: Record<string, unknown>; content?: never };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        409: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        502: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch: {
      parameters: { query?: never; path: { install_id: string }; header?: { "If-Match"?: string; "Idempotency-Key"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['UpdateInstallMail'] } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['InstallMail'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        409: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        412: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        502: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    trace?: never;
  };
  '/installs/{install_id}/wordpress': {
    get: {
      parameters: { query?: never; path: { install_id: string }; header?: { "If-None-Match"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['WordPress'] } };
        304: { headers: Record<string, unknown>; content?: never };
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
  '/installs/{install_id}/wordpress/refresh': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path: { install_id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        202: { headers: Record<string, unknown>; content?: never };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        409: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/accounts/{account_id}/wordpress': {
    get: {
      parameters: { query?: { limit?: number; offset?: number; updates?: "waiting"; tags?: string }; path: { account_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['WordPressSummaryPage'] } };
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
  '/installs/{install_id}/protection': {
    get: {
      parameters: { query?: never; path: { install_id: string }; header?: { "If-None-Match"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Protection'] } };
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
      parameters: { query?: never; path: { install_id: string }; header?: { "If-Match"?: string; "Idempotency-Key"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['UpdateProtection'] } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Protection'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        412: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    trace?: never;
  };
  '/installs/{install_id}/redirects': {
    get: {
      parameters: { query?: { limit?: number; offset?: number }; path: { install_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['RedirectPage'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    put?: never;
    post: {
      parameters: { query?: never; path: { install_id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['CreateRedirect'] } };
      responses: {
        201: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Redirect'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/installs/{install_id}/redirects/import': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path: { install_id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['ImportRedirects'] } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['ImportedRedirects'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/installs/{install_id}/redirects/{redirect_id}': {
    get: {
      parameters: { query?: never; path: { install_id: string; redirect_id: string }; header?: { "If-None-Match"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Redirect'] } };
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
    delete: {
      parameters: { query?: never; path: { install_id: string; redirect_id: string }; header?: { "If-Match"?: string; "Idempotency-Key"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        202: { headers: Record<string, unknown>; content?: never };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        412: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    options?: never;
    head?: never;
    patch: {
      parameters: { query?: never; path: { install_id: string; redirect_id: string }; header?: { "If-Match"?: string; "Idempotency-Key"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['UpdateRedirect'] } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Redirect'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        412: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    trace?: never;
  };
  '/installs/{install_id}/cache_rules': {
    get: {
      parameters: { query?: never; path: { install_id: string }; header?: { "If-None-Match"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['CacheRules'] } };
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
      parameters: { query?: never; path: { install_id: string }; header?: { "If-Match"?: string; "Idempotency-Key"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['UpdateCacheRules'] } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['CacheRules'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        412: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    trace?: never;
  };
  '/installs/{install_id}/wordpress/updates': {
    get: {
      parameters: { query?: { limit?: number; offset?: number }; path: { install_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['WordPressUpdateRunPage'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    put?: never;
    post: {
      parameters: { query?: never; path: { install_id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['CreateWordPressUpdate'] } };
      responses: {
        202: { headers: Record<string, unknown>; content?: never };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        409: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/accounts/{account_id}/wordpress/updates': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path: { account_id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['CreateWordPressUpdates'] } };
      responses: {
        202: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['RequestedWordPressUpdates'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/installs/{install_id}/wordpress/update_policy': {
    get: {
      parameters: { query?: never; path: { install_id: string }; header?: { "If-None-Match"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['WordPressUpdatePolicy'] } };
        304: { headers: Record<string, unknown>; content?: never };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        409: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
      parameters: { query?: never; path: { install_id: string }; header?: { "If-Match"?: string; "Idempotency-Key"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['UpdateWordPressUpdatePolicy'] } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['WordPressUpdatePolicy'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        409: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        412: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    trace?: never;
  };
  '/installs/{install_id}/wordpress/changes': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path: { install_id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['ChangeWordPressItem'] } };
      responses: {
        202: { headers: Record<string, unknown>; content?: never };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        409: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/installs/{install_id}/wordpress/installations': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path: { install_id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['InstallWordPressItem'] } };
      responses: {
        202: { headers: Record<string, unknown>; content?: never };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        409: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/installs/{install_id}/logs/access': {
    get: {
      parameters: { query?: { from?: string; to?: string; search?: string; cursor?: string; limit?: number; status?: string }; path: { install_id: string }; header?: { "If-None-Match"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['AccessLogPage'] } };
        304: { headers: Record<string, unknown>; content?: never };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        409: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        502: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/installs/{install_id}/logs/php': {
    get: {
      parameters: { query?: { from?: string; to?: string; search?: string; cursor?: string; limit?: number }; path: { install_id: string }; header?: { "If-None-Match"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['PhpLogPage'] } };
        304: { headers: Record<string, unknown>; content?: never };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        409: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        502: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/installs/{install_id}/logs/cron': {
    get: {
      parameters: { query?: { from?: string; to?: string; search?: string; cursor?: string; limit?: number }; path: { install_id: string }; header?: { "If-None-Match"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['CronLogPage'] } };
        304: { headers: Record<string, unknown>; content?: never };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        409: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        502: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/installs/{install_id}/logs/mail': {
    get: {
      parameters: { query?: { from?: string; to?: string; search?: string; cursor?: string; limit?: number }; path: { install_id: string }; header?: { "If-None-Match"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['MailLogPage'] } };
        304: { headers: Record<string, unknown>; content?: never };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        409: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        502: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/accounts/{account_id}/deleted_installs': {
    get: {
      parameters: { query?: never; path: { account_id: string }; header?: { "If-None-Match"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['DeletedInstallList'] } };
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
    patch?: never;
    trace?: never;
  };
  '/deleted_installs/{deleted_install_id}/restore': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path: { deleted_install_id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        202: { headers: Record<string, unknown>; content?: never };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        409: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/installs/{install_id}/wp_cli': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path: { install_id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['RunWpCli'] } };
      responses: {
        202: { headers: Record<string, unknown>; content?: never };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        409: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/installs/{install_id}/php': {
    get: {
      parameters: { query?: never; path: { install_id: string }; header?: { "If-None-Match"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Php'] } };
        304: { headers: Record<string, unknown>; content?: never };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        409: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
      parameters: { query?: never; path: { install_id: string }; header?: { "If-Match"?: string; "Idempotency-Key"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['UpdatePhp'] } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Php'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        409: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        412: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    trace?: never;
  };
  '/installs/{install_id}/php/restart': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path: { install_id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        202: { headers: Record<string, unknown>; content?: never };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        409: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/operations': {
    get: {
      parameters: { query?: { limit?: number; offset?: number; account_id?: string; install_id?: string; status?: "queued" | "running" | "succeeded" | "failed" | "cancelled"; kind?: "install.create" | "install.apply" | "install.copy" | "install.import" | "install.delete" | "backup.create" | "backup.restore" | "backup.delete" | "archive.create" | "domain.check" | "certificate.order" | "cache.purge" | "offload.configure" | "wordpress.read" | "wordpress.update" | "wordpress.change" | "install.update_php" | "install.update_php_limits" | "install.restart_php" | "wordpress.cli" | "site.transfer" }; path?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['OperationPage'] } };
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
  '/operations/{operation_id}': {
    get: {
      parameters: { query?: { wait?: number }; path: { operation_id: string }; header?: { "If-None-Match"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Operation'] } };
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
    delete: {
      parameters: { query?: never; path: { operation_id: string }; header?: { "If-Match"?: string; "Idempotency-Key"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        204: { headers: Record<string, unknown>; content?: never };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        409: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        412: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/operations/{operation_id}/retry': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path: { operation_id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        202: { headers: Record<string, unknown>; content?: never };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        409: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        500: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        502: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/accounts/{account_id}/limits': {
    get: {
      parameters: { query?: never; path: { account_id: string }; header?: { "If-None-Match"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['AccountLimits'] } };
        304: { headers: Record<string, unknown>; content?: never };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        500: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        502: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/accounts/{account_id}/usage': {
    get: {
      parameters: { query?: { first_date?: string; last_date?: string; limit?: number; offset?: number; tags?: string }; path: { account_id: string }; header?: { "If-None-Match"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['AccountUsage'] } };
        304: { headers: Record<string, unknown>; content?: never };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/accounts/{account_id}/usage/summary': {
    get: {
      parameters: { query?: { first_date?: string; last_date?: string }; path: { account_id: string }; header?: { "If-None-Match"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['UsageRollup'] } };
        304: { headers: Record<string, unknown>; content?: never };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        502: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/accounts/{account_id}/usage/insights': {
    get: {
      parameters: { query?: { first_date?: string; last_date?: string }; path: { account_id: string }; header?: { "If-None-Match"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['UsageInsights'] } };
        304: { headers: Record<string, unknown>; content?: never };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        502: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/accounts/{account_id}/usage/refresh_disk_usage': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path: { account_id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content?: never };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        500: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        502: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/installs/{install_id}/usage': {
    get: {
      parameters: { query?: { first_date?: string; last_date?: string }; path: { install_id: string }; header?: { "If-None-Match"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['InstallUsage'] } };
        304: { headers: Record<string, unknown>; content?: never };
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
  '/installs/{install_id}/usage/refresh_disk_usage': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path: { install_id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content?: never };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        500: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        502: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/installs/{install_id}/uptime': {
    get: {
      parameters: { query?: never; path: { install_id: string }; header?: { "If-None-Match"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Uptime'] } };
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
    patch?: never;
    trace?: never;
  };
  '/installs/{install_id}/incidents': {
    get: {
      parameters: { query?: { limit?: number; offset?: number; state?: "open" | "ended" }; path: { install_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['IncidentPage'] } };
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
  '/accounts/{account_id}/incidents': {
    get: {
      parameters: { query?: { limit?: number; offset?: number; state?: "open" | "ended" }; path: { account_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['IncidentPage'] } };
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
  '/user': {
    get: {
      parameters: { query?: never; path?: never; header?: { "If-None-Match"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['User'] } };
        304: { headers: Record<string, unknown>; content?: never };
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
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['SshKeyPage'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    put?: never;
    post: {
      parameters: { query?: never; path?: never; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['CreateSshKey'] } };
      responses: {
        201: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['SshKey'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
      parameters: { query?: never; path: { ssh_key_id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        204: { headers: Record<string, unknown>; content?: never };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/credentials': {
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
      parameters: { query?: never; path?: never; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['CreateCredential'] } };
      responses: {
        201: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['IssuedCredential'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/credentials/{credential_id}': {
    get?: never;
    put?: never;
    post?: never;
    delete: {
      parameters: { query?: never; path: { credential_id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        204: { headers: Record<string, unknown>; content?: never };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/accounts/{account_id}/activity': {
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
  '/events': {
    get: {
      parameters: { query?: { limit?: number; cursor?: string; account_id?: string; install_id?: string; type?: "account.updated" | "account_user.added" | "account_user.updated" | "account_user.removed" | "site.created" | "site.updated" | "site.deleted" | "site.transferred" | "install.created" | "install.updated" | "install.active" | "install.failed" | "install.deleted" | "domain.created" | "domain.updated" | "domain.active" | "domain.failed" | "domain.verified" | "domain.unreachable" | "domain.deleted" | "certificate.issued" | "certificate.uploaded" | "certificate.failed" | "certificate.expiring" | "backup.created" | "backup.completed" | "backup.failed" | "backup.deleted" | "backup.missing" | "backup.found" | "operation.succeeded" | "operation.failed" | "operation.cancelled" | "incident.started" | "incident.ended" | "usage.limit_reached" | "webhook.disabled" | "webhook.test"; since?: string }; path?: never; header?: { "If-None-Match"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['EventPage'] } };
        304: { headers: Record<string, unknown>; content?: never };
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
  '/webhooks': {
    get: {
      parameters: { query?: { limit?: number; offset?: number; account_id?: string }; path?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['WebhookPage'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    put?: never;
    post: {
      parameters: { query?: never; path?: never; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['CreateWebhook'] } };
      responses: {
        201: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['WebhookWithSecret'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/webhooks/{webhook_id}': {
    get: {
      parameters: { query?: never; path: { webhook_id: string }; header?: { "If-None-Match"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Webhook'] } };
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
    delete: {
      parameters: { query?: never; path: { webhook_id: string }; header?: { "If-Match"?: string; "Idempotency-Key"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        204: { headers: Record<string, unknown>; content?: never };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        412: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    options?: never;
    head?: never;
    patch: {
      parameters: { query?: never; path: { webhook_id: string }; header?: { "If-Match"?: string; "Idempotency-Key"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['UpdateWebhook'] } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['WebhookWithSecret'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        412: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    trace?: never;
  };
  '/webhooks/{webhook_id}/deliveries': {
    get: {
      parameters: { query?: { limit?: number; offset?: number; state?: "pending" | "succeeded" | "failed" }; path: { webhook_id: string }; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['WebhookDeliveryPage'] } };
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
  '/webhooks/{webhook_id}/deliveries/{delivery_id}': {
    get: {
      parameters: { query?: never; path: { webhook_id: string; delivery_id: string }; header?: { "If-None-Match"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['WebhookDelivery'] } };
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
    patch?: never;
    trace?: never;
  };
  '/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path: { webhook_id: string; delivery_id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['WebhookDelivery'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        409: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/webhooks/{webhook_id}/test': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path: { webhook_id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['WebhookDelivery'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        409: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/user/notifications': {
    get: {
      parameters: { query?: { limit?: number; offset?: number; read?: "false" | "true"; category?: "backups" | "operations" | "uptime" | "domains" | "certificates" | "usage" | "webhooks" | "finished"; account_id?: string }; path?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['NotificationPage'] } };
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
  '/user/notifications/{notification_id}': {
    get?: never;
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch: {
      parameters: { query?: never; path: { notification_id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['UpdateNotification'] } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Notification'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        404: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        409: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    trace?: never;
  };
  '/user/notifications/read_all': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; path?: never; header?: { "Idempotency-Key"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['NotificationsRead'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
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
  '/user/notification_preferences': {
    get: {
      parameters: { query?: never; path?: never; header?: { "If-None-Match"?: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['NotificationPreferences'] } };
        304: { headers: Record<string, unknown>; content?: never };
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
    patch: {
      parameters: { query?: never; path?: never; header?: { "If-Match"?: string; "Idempotency-Key"?: string }; cookie?: never };
      requestBody: { content: { 'application/json': components['schemas']['UpdateNotificationPreferences'] } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['NotificationPreferences'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        403: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        412: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        422: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        429: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
        503: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Error'] } };
      };
    };
    trace?: never;
  };
  '/swagger': {
    get: {
      parameters: { query?: never; path?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['OpenApiDocument'] } };
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
    AccessLogEntry: { time: string; address: string; method: string; scheme: string; host: string; path: string; status: number; bytes: number; cache: string | null; seconds: number; php_seconds: number | null; user_agent: string; referrer: string };
    AccessLogPage: { results: Array<components['schemas']['AccessLogEntry']>; next_cursor: string | null; follow_cursor: string };
    Account: { id: string; name: string; nickname: string };
    AccountLimits: { visitors: number | null; storage: number | null; bandwidth: number | null };
    AccountPage: { previous: string | null; next: string | null; count: number; results: Array<components['schemas']['Account']> };
    AccountReference: { id: string };
    AccountTag: { name: string; site_count: number; install_count: number };
    AccountTagList: { results: Array<components['schemas']['AccountTag']> };
    AccountUsage: { environment_metrics: Array<components['schemas']['EnvironmentUsage']>; total_size: number; next_page_token: string | null; all_environments_included: boolean; last_account_storage_refresh_time: string | null; account_storage_refresh_expected_time: string | null };
    AccountUser: { user_id: string; account_id: string; first_name: string; last_name: string; email: string; phone: string | null; invite_accepted: boolean; mfa_enabled: boolean; roles: string; last_owner?: boolean; installs?: Array<components['schemas']['InstallReference']> };
    AccountUserChange: { message: string; account_user: components['schemas']['AccountUser'] };
    AccountUserList: { results: Array<components['schemas']['AccountUser']> };
    ActivityEntry: { id: string; at: string; action: "account.create" | "account.update" | "account.limit" | "account_user.invite" | "account_user.add" | "account_user.accept" | "account_user.update" | "account_user.remove" | "site.create" | "site.update" | "site.delete" | "tag.rename" | "tag.remove" | "site_transfer.request" | "site_transfer.accept" | "site_transfer.cancel" | "site_transfer.complete" | "site_transfer.fail" | "install.create" | "install.update" | "install.delete" | "install.restore" | "install.switch_core" | "install.update_php" | "install.update_wordpress" | "install.change_wordpress" | "install.update_policy" | "install.copy" | "install.import" | "install.create_import_key" | "install.renew_import_key" | "install.delete_import_key" | "install.login_link" | "install.database_link" | "install.update_mail" | "install.wp_cli" | "install.update_php_limits" | "install.restart_php" | "domain.create" | "domain.update" | "domain.delete" | "domain.verify" | "domain.lose" | "certificate.order" | "certificate.upload" | "certificate.read_key" | "backup.create" | "backup.restore" | "backup.delete" | "backup.pack" | "cache.purge" | "cache.rules" | "operation.cancel" | "operation.retry" | "offload.update" | "offload.remove" | "protection.update" | "redirect.create" | "redirect.update" | "redirect.delete" | "redirect.import" | "ssh_key.create" | "ssh_key.delete" | "credential.create" | "credential.revoke" | "session.create" | "session.end" | "password.link" | "password.set" | "password.change" | "second_factor.enable" | "second_factor.disable" | "second_factor.renew_codes" | "second_factor.refuse" | "passkey.create" | "passkey.update" | "passkey.delete" | "passkey.refuse" | "profile.update" | "webhook.create" | "webhook.update" | "webhook.delete" | "webhook.disable" | "webhook.test" | "webhook.redeliver"; subject_id: string | null; subject_name: string; install_id: string | null; install_name: string | null; details: Record<string, string | number | boolean | null> | null; user_id: string | null; user_name: string; means: "api" | "portal" | "command_line" | "platform"; credential_id: string | null; credential_name: string | null; address: string | null; request_id: string | null };
    ActivityEntryPage: { previous: string | null; next: string | null; count: number; results: Array<components['schemas']['ActivityEntry']> };
    AddressRecord: { hdr: components['schemas']['DnsRecordHeader']; a: string };
    Archive: { id: string; backup: components['schemas']['BackupReference']; notification_emails: Array<string>; state: components['schemas']['BackupStatus']; create_time: string; start_time: string | null; complete_time: string | null; abort_time: string | null; download_uri: string | null; size_bytes: number | null; expires_at: string | null };
    ArchivePage: { previous: string | null; next: string | null; count: number; results: Array<components['schemas']['Archive']> };
    Backup: { id: string; status: components['schemas']['BackupStatus']; description: string | null; create_time: string | null; complete_time: string | null; wordpress_version: string | null; kind: "manual" | "scheduled" | "checkpoint"; size_bytes: number | null; verified_at: string | null; missing_since: string | null; expires_at: string | null };
    BackupPage: { previous: string | null; next: string | null; count: number; results: Array<components['schemas']['Backup']> };
    BackupReference: { id: string };
    BackupStatus: "requested" | "in_progress" | "completed" | "aborted";
    BulkDomain: { id: string; name: string; duplicate: boolean; primary: boolean; redirect_to: components['schemas']['DomainReference'] | null; redirects_to: components['schemas']['DomainReference'] | null };
    BulkDomains: { id: string; name: string; duplicate: boolean; primary: boolean; redirect_to: components['schemas']['DomainReference'] | null; redirects_to: components['schemas']['DomainReference'] | null; domains: Array<components['schemas']['BulkDomain']> };
    CaaRecord: { hdr: components['schemas']['DnsRecordHeader']; flag: number; tag: string; value: string };
    CacheRules: { uncached_paths: Array<components['schemas']['UncachedPath']>; bypass_cookies: Array<string>; ignored_parameters: Array<string>; max_age: number };
    Capability: { name: "wordpress_login" | "wordpress_details" | "wordpress_updates" | "wordpress_changes" | "wp_cli" | "database_access" | "php_versions" | "php_limits" | "mail" | "mail_limits" | "imports" | "logs" | "backup_parts" | "backup_tables" | "object_cache" | "shell"; title: string; available: boolean; reason: string | null; remedy: string | null };
    Certificate: { id: number; account: string | null; auth_file: string | null; approver_email: string | null; common_name: string; cancel_time: string | null; cert_source: "LETS_ENCRYPT" | "THIRD_PARTY" | "SELF_SIGNED" | "CERT_SOURCE_UNSPECIFIED"; ordered_time: string; order_id: string | null; status: "ENABLED" | "DISABLED" | "EXPIRED" | "CANCELED" | "REJECTED" | "SUBMITTED" | "SSL_STATE_UNSPECIFIED"; parent_id: string | null; provider_order_id: string | null; approved_time: string; expires_time: string; auto_renew: boolean; wildcard: boolean; domains: Array<string>; serial_number: string; issuer: string };
    CertificateFiles: { key: string; cert: string };
    CertificateInformation: { cert_name: string; cert_info: components['schemas']['CertificateFiles']; certificate: components['schemas']['Certificate']; criteria: string };
    CertificateList: { certificates: Array<components['schemas']['Certificate']>; next_page_token: string };
    CertificateSubject: { common_name: string; organization: Array<string>; organizational_unit: Array<string>; country: Array<string>; province: Array<string>; locality: Array<string> };
    ChangeTags: { add?: Array<string>; remove?: Array<string>; site_ids?: Array<string>; install_ids?: Array<string> };
    ChangeWordPressItem: { kind: "plugin" | "theme"; id: string; status?: "active" | "inactive" | "deleted"; auto_update?: boolean; keep?: boolean };
    ChangedTags: { changed: Array<components['schemas']['TaggedSite']>; without_site: Array<string> };
    CopyInstall: { source_environment_id: string; destination_environment_id: string; notification_emails?: Array<string>; custom_options?: components['schemas']['InstallCopyOptions']; create_checkpoint?: boolean };
    CreateAccountUser: { user: components['schemas']['InvitedAccountUser'] };
    CreateArchive: { backup_id: string; notification_emails?: Array<string> };
    CreateBackup: { description: string; notification_emails: Array<string> };
    CreateBulkDomains: { domains: Array<components['schemas']['DomainToAdd']> };
    CreateCredential: { name: string; expires_at?: string | null; read_only?: boolean; account_id?: string | null; install_ids?: Array<string> | null };
    CreateDomain: { name: string; primary?: boolean; redirect_to?: string | null };
    CreateInstall: { name: string; account_id: string; site_id?: string | null; environment?: components['schemas']['Environment'] | null; php_version?: string | null; runtime?: "wordpress" | "static" | null };
    CreateLoginLink: { user?: string };
    CreateRedirect: { match?: "exact" | "prefix" | "regex"; from: string; to: string; status?: 301 | 302 | 307 | 308; keep_query?: boolean; position?: number };
    CreateSite: { name: string; account_id: string; sandbox?: boolean; transferable?: boolean; tags?: Array<string> };
    CreateSiteTransfer: { destination_account_id: string; scheduled_time?: string | null; maintenance_mode?: boolean };
    CreateSshKey: { public_key: string };
    CreateStaging: { name: string };
    CreateWebhook: { account_id: string; url: string; description?: string; event_types?: Array<"account.updated" | "account_user.added" | "account_user.updated" | "account_user.removed" | "site.created" | "site.updated" | "site.deleted" | "site.transferred" | "install.created" | "install.updated" | "install.active" | "install.failed" | "install.deleted" | "domain.created" | "domain.updated" | "domain.active" | "domain.failed" | "domain.verified" | "domain.unreachable" | "domain.deleted" | "certificate.issued" | "certificate.uploaded" | "certificate.failed" | "certificate.expiring" | "backup.created" | "backup.completed" | "backup.failed" | "backup.deleted" | "backup.missing" | "backup.found" | "operation.succeeded" | "operation.failed" | "operation.cancelled" | "incident.started" | "incident.ended" | "usage.limit_reached" | "webhook.disabled" | "webhook.test"> | null; install_ids?: Array<string> | null };
    CreateWordPressUpdate: { core?: boolean | string; plugins?: "all" | Array<string>; themes?: "all" | Array<string>; keep?: boolean };
    CreateWordPressUpdates: { install_ids?: Array<string>; tags?: Array<string>; core?: boolean | string; plugins?: "all" | Array<string>; themes?: "all" | Array<string>; keep?: boolean };
    Credential: { id: string; name: string; read_only: boolean; account: components['schemas']['NamedReference'] | null; installs: Array<components['schemas']['NamedReference']> | null; expires_at: string | null; revoked_at: string | null; last_used_at: string | null; created_at: string };
    CredentialPage: { previous: string | null; next: string | null; count: number; results: Array<components['schemas']['Credential']> };
    CronLogEntry: { time: string; seconds: number; exit: number | null; output: string };
    CronLogPage: { results: Array<components['schemas']['CronLogEntry']>; next_cursor: string | null; follow_cursor: string };
    DatabaseLink: { url: string; expires_at: string };
    DeletedInstall: { id: string; name: string; environment: string | null; domains: Array<string>; backup_count: number; state: "deleting" | "restorable"; reason: string | null; deleted_at: string; expires_at: string };
    DeletedInstallList: { results: Array<components['schemas']['DeletedInstall']> };
    DnsRecordHeader: { name: string; rrtype: number; class: number; ttl: number; rdlength: number };
    Domain: { id: string; name: string; duplicate: boolean; primary: boolean; network_type: "LEGACY" | "AN" | "GES"; network_details: components['schemas']['DomainNetworkDetails']; redirect_to: components['schemas']['DomainReference'] | null; redirects_to: Array<components['schemas']['DomainReference']>; secure_all_urls: boolean; ownership_status: "TXT_VERIFIED" | "TXT_VERIFICATION_PENDING"; txt_verified_time: string | null; txt_verified_domain: string; txt_verification_key: string | null; txt_verification_value: string | null };
    DomainCheck: { name: string; cname: string; a_record: string; aaaa_record: string; result: string; dns_provider: string; install_name: string; cluster_id: string; http_forwarded: string; http_forwarded_list: string; platform_env_id: string; complete: boolean; dns_error: boolean; http_error: boolean; ns: Array<components['schemas']['NsRecord']>; mx: Array<components['schemas']['MxRecord']>; txt: Array<string>; ip: Array<string>; address: Array<string>; soa: Array<components['schemas']['SoaRecord']>; caa: Array<components['schemas']['CaaRecord']>; aname: Array<components['schemas']['AddressRecord']>; ssl: components['schemas']['DomainCheckSsl'] };
    DomainCheckSsl: { status: string; issuer: string; not_before: string; not_after: string; error: string; serial_number: string; common_name: string; dns_names: Array<string>; sans: Array<string>; signature_algorithm: number; subject: components['schemas']['CertificateSubject'] };
    DomainDnsConfig: { cname: string; a_records: Array<string> };
    DomainNetwork: { status: "PENDING" | "ACTIVE" | "FAILED"; ssl: components['schemas']['DomainSsl'] };
    DomainNetworkDetails: { dns_config_info: components['schemas']['DomainDnsConfig']; network_info: components['schemas']['DomainNetwork'] };
    DomainPage: { previous: string | null; next: string | null; count: number; results: Array<components['schemas']['Domain']> };
    DomainReference: { id: string; name: string };
    DomainSsl: { status: "pending" | "active" | "failed" | "none" };
    DomainToAdd: { name: string; redirect_to?: string | null };
    DomainVerification: { id: string; name: string; txt_verified_time: string | null; txt_verified_domain: string; txt_verification_key: string | null; txt_verification_value: string | null };
    Environment: "production" | "staging" | "development";
    EnvironmentUsage: { environment_name: string; metrics: Array<components['schemas']['UsageDay']>; metrics_rollup: components['schemas']['UsageRollup']; storage_refresh_expected_time: string | null };
    Error: { message: string; errors?: Array<components['schemas']['Fault']> };
    Event: { id: string; type: components['schemas']['EventType']; version: number; timestamp: string; account_id: string; install_id: string | null; data: Record<string, string | number | null> };
    EventPage: { results: Array<components['schemas']['Event']>; next_cursor: string; has_more: boolean };
    EventType: "account.updated" | "account_user.added" | "account_user.updated" | "account_user.removed" | "site.created" | "site.updated" | "site.deleted" | "site.transferred" | "install.created" | "install.updated" | "install.active" | "install.failed" | "install.deleted" | "domain.created" | "domain.updated" | "domain.active" | "domain.failed" | "domain.verified" | "domain.unreachable" | "domain.deleted" | "certificate.issued" | "certificate.uploaded" | "certificate.failed" | "certificate.expiring" | "backup.created" | "backup.completed" | "backup.failed" | "backup.deleted" | "backup.missing" | "backup.found" | "operation.succeeded" | "operation.failed" | "operation.cancelled" | "incident.started" | "incident.ended" | "usage.limit_reached" | "webhook.disabled" | "webhook.test";
    Fault: { resource: string; field: string; type: string; code: string; message: string };
    FilestoreSettings: { cloud: "s3"; bucket: string; bucket_region: string; path_settings: Array<components['schemas']['OffloadPath']> };
    FilestoreSettingsChange: { cloud?: "s3"; bucket?: string; bucket_region?: string; path_settings?: Array<components['schemas']['OffloadPath']> };
    ImportKey: { public_key: string; created_at: string };
    ImportRedirects: { redirects: Array<components['schemas']['RedirectToImport']>; replace?: boolean };
    ImportThirdPartyCertificate: { certificate: string; private_key: string };
    ImportWebsite: { source: "file" | "url" | "ssh"; path?: string; url?: string; site?: string; host?: string; port?: number; user?: string; host_key?: string; create_checkpoint?: boolean; notification_emails?: Array<string> };
    ImportedRedirects: { count: number; total: number };
    Incident: { id: string; install: components['schemas']['InstallReference']; cause: "status" | "timeout" | "connection" | "certificate" | "redirects" | "wordpress" | "php" | "host"; message: string; php_error: string | null; started_at: string; ended_at: string | null; duration_seconds: number };
    IncidentPage: { previous: string | null; next: string | null; count: number; results: Array<components['schemas']['Incident']> };
    Install: { id: string; name: string; account: components['schemas']['AccountReference']; php_version: string | null; wp_version: string | null; defer_wordpress_upgrades_until: string | null; status: "pending" | "active" | "failed"; cname: string; environment: components['schemas']['Environment'] | null; site: components['schemas']['SiteReference'] | null; primary_domain: string; stable_ips: Array<string> | null; is_multisite: boolean; lost_data: string | null; created_at: string };
    InstallCapabilities: { capabilities: Array<components['schemas']['Capability']> };
    InstallCopyOptions: { include_files?: boolean; include_db?: boolean; db_tables?: Array<string> };
    InstallMail: { limit_per_hour: number; most_per_hour: number; sent_last_hour: number; queued: number; sender: string; can_send: boolean; last_refused: Array<components['schemas']['RefusedMail']> | null };
    InstallPage: { previous: string | null; next: string | null; count: number; results: Array<components['schemas']['Install']> };
    InstallReference: { id: string; name: string };
    InstallUsage: { install_name: string; metrics: Array<components['schemas']['UsageDay']>; metrics_rollup: components['schemas']['UsageRollup']; storage_refresh_expected_time: string | null };
    InstallWordPressItem: { kind: "plugin" | "theme"; slug?: string; path?: string; url?: string; activate?: boolean; keep?: boolean };
    InvitedAccountUser: { account_id: string; first_name: string; last_name: string; email: string; roles: "owner" | "full,billing" | "full" | "partial,billing" | "partial"; install_ids?: Array<string> };
    IssuedCredential: { id: string; name: string; read_only: boolean; account: components['schemas']['NamedReference'] | null; installs: Array<components['schemas']['NamedReference']> | null; expires_at: string | null; revoked_at: string | null; last_used_at: string | null; created_at: string; password: string };
    LoginLink: { url: string; expires_at: string };
    MailLogEntry: { time: string; id: string | null; event: "queued" | "sent" | "deferred" | "failed" | "refused"; sender: string; recipients: Array<string>; recipient_count: number; bytes: number | null; reason: string | null };
    MailLogPage: { results: Array<components['schemas']['MailLogEntry']>; next_cursor: string | null; follow_cursor: string };
    MaintenanceWindow: { days: Array<"monday" | "tuesday" | "wednesday" | "thursday" | "friday" | "saturday" | "sunday">; from_hour: number; hours: number; time_zone: string };
    MxRecord: { Host: string; Pref: number };
    NamedReference: { id: string; name: string };
    Notification: { id: string; account_id: string; account_name: string; install_id: string | null; install_name: string | null; category: string; severity: "error" | "warning" | "success"; title: string; message: string | null; retry_operation_id: string | null; path: string; count: number; first_at: string; last_at: string; read: boolean };
    NotificationPage: { previous: string | null; next: string | null; count: number; results: Array<components['schemas']['Notification']> };
    NotificationPreference: { category: string; title: string; description: string; email: "default" | "immediately" | "daily" | "never"; default_email: "default" | "immediately" | "daily" | "never" };
    NotificationPreferences: { categories: Array<components['schemas']['NotificationPreference']> };
    NotificationsRead: { count: number };
    NsRecord: { host: string };
    OffloadPath: { path: string; excluded_paths: Array<string>; redirect_type: "break" | "permanent" };
    OffloadSettings: { filestore_settings: components['schemas']['FilestoreSettings'] };
    OffloadValidationFile: { name: string; content: string };
    OpenApiDocument: unknown;
    Operation: { id: string; kind: "install.create" | "install.apply" | "install.copy" | "install.import" | "install.delete" | "backup.create" | "backup.restore" | "backup.delete" | "archive.create" | "domain.check" | "certificate.order" | "cache.purge" | "offload.configure" | "wordpress.read" | "wordpress.update" | "wordpress.change" | "install.update_php" | "install.update_php_limits" | "install.restart_php" | "wordpress.cli" | "site.transfer"; status: "queued" | "running" | "succeeded" | "failed" | "cancelled"; account_id: string; install: components['schemas']['OperationInstall'] | null; created_at: string; started_at: string | null; finished_at: string | null; progress: components['schemas']['OperationProgress'] | null; error: components['schemas']['OperationError'] | null; result: components['schemas']['OperationResult'] | null };
    OperationError: { code: "unexpected" | "timed_out" | "interrupted" | "set_aside" | "outdated" | "waiting" | "host_unreachable" | "disk_full" | "host_refused" | "website_missing" | "source_missing" | "source_backup_failed" | "checkpoint_failed" | "not_restored" | "rolled_back" | "pages_differ" | "change_refused" | "import_refused" | "storage_refused" | "validation_file_missing" | "validation_file_wrong" | "cdn_refused" | "certificate_refused" | "urls_not_replaced" | "certificate_paused" | "failed"; message: string; advice: string | null };
    OperationInstall: { id: string; name: string };
    OperationPage: { previous: string | null; next: string | null; count: number; results: Array<components['schemas']['Operation']> };
    OperationProgress: { done: number; total: number | null; unit: "bytes" | "files"; step: string | null };
    OperationResult: Record<string, string>;
    OrderCertificate: { email_address: string; given_name: string; family_name: string; region_code: string; state?: string; city?: string; phone?: string };
    Php: { version: string | null; versions: Array<string>; limits: components['schemas']['PhpSettings'] | null; custom: Array<string>; defaults: components['schemas']['PhpSettings'] | null; maximums: components['schemas']['PhpSettings'] | null };
    PhpLogEntry: { time: string; level: "error" | "warning" | "notice" | "deprecated" | "message"; message: string };
    PhpLogPage: { results: Array<components['schemas']['PhpLogEntry']>; next_cursor: string | null; follow_cursor: string };
    PhpSettings: { memory_limit: string; upload_max_filesize: string; max_execution_time: number; workers: number; max_input_vars: number };
    Protection: { xmlrpc: "allowed" | "blocked"; blocked_addresses: Array<string>; noindex: "automatic" | "on" | "off"; password: components['schemas']['VisitorPassword'] };
    PurgeCache: { type: "object" | "page" | "cdn" | "all"; paths?: Array<string> };
    PushInstall: { to?: string; include_files: boolean; include_db: boolean; db_tables?: Array<string>; notification_emails?: Array<string> };
    Redirect: { id: string; position: number; match: "exact" | "prefix" | "regex"; from: string; to: string; status: 301 | 302 | 307 | 308; keep_query: boolean };
    RedirectPage: { previous: string | null; next: string | null; count: number; results: Array<components['schemas']['Redirect']> };
    RedirectToImport: { match?: "exact" | "prefix" | "regex"; from: string; to: string; status?: 301 | 302 | 307 | 308; keep_query?: boolean };
    RefusedMail: { refused_at: string; reason: string; recipients: Array<string> };
    RefusedWordPressUpdate: { install_id: string; message: string };
    RemoveTag: { name: string };
    RemovedTag: { site_count: number; site_ids: Array<string> };
    RenameTag: { name: string; new_name: string };
    RequestedBackup: { id: string; status: components['schemas']['BackupStatus'] };
    RequestedWordPressUpdates: { count: number; operations: Array<components['schemas']['WordPressUpdateOperation']>; refused: Array<components['schemas']['RefusedWordPressUpdate']> };
    RestoreBackup: { notification_emails: Array<string>; restore_database?: boolean; restore_files?: boolean; create_checkpoint?: boolean };
    RunWpCli: { args: Array<string> };
    Site: { id: string; name: string; account: components['schemas']['AccountReference']; group_name: string | null; tags: Array<string>; installs: Array<components['schemas']['SiteInstall']>; sandbox: boolean; transferable: boolean; created_at: string };
    SiteHealth: { status: "good" | "should_be_improved" | "unknown"; good: number; recommended: number; critical: number; issues: Array<components['schemas']['SiteHealthIssue']>; examined_at: string | null };
    SiteHealthIssue: { label: string; severity: "recommended" | "critical" };
    SiteInstall: { id: string; name: string; environment: components['schemas']['Environment'] | null; cname: string; php_version: string | null; is_multisite: boolean };
    SitePage: { previous: string | null; next: string | null; count: number; results: Array<components['schemas']['Site']> };
    SiteReference: { id: string };
    SiteTransfer: { id: string; site: string; site_name: string; installs: Array<string>; install_names: Array<string>; origin_account: string; origin_account_name: string; destination_account: string; destination_account_name: string | null; status: components['schemas']['SiteTransferStatus']; awaits_acceptance: boolean; scheduled_time: string | null; reason: string | null; created_at: string; updated_at: string };
    SiteTransferPage: { previous: string | null; next: string | null; count: number; results: Array<components['schemas']['SiteTransfer']> };
    SiteTransferStatus: "pending" | "scheduled" | "in_progress" | "completed" | "failed" | "cancelled";
    SoaRecord: { hdr: components['schemas']['DnsRecordHeader']; ns: string; mbox: string; serial: number; refresh: number; retry: number; expire: number; minttl: number };
    SshKey: { comment: string; created_at: string; fingerprint: string; uuid: string };
    SshKeyPage: { previous: string | null; next: string | null; count: number; results: Array<components['schemas']['SshKey']> };
    Status: { success: boolean; created_on: string };
    StatusReport: { complete: boolean; id: string; install_name: string; install_ip: string; admin: boolean; domains: Array<components['schemas']['DomainCheck']> };
    StatusReportEnvelope: { report: components['schemas']['StatusReport'] };
    StatusReportReference: { report_id: string };
    TaggedSite: { site_id: string; name: string; tags: Array<string>; former_tags: Array<string> };
    ThirdPartyCertificate: { certificate: string; private_key: string; domains: Array<string>; expires_time: string; serial_number: string };
    UncachedPath: { match: "exact" | "prefix"; path: string };
    UpdateAccountUser: { roles: "owner" | "full,billing" | "full" | "partial,billing" | "partial"; install_ids?: Array<string> };
    UpdateCacheRules: { uncached_paths?: Array<components['schemas']['UncachedPath']>; bypass_cookies?: Array<string>; ignored_parameters?: Array<string>; max_age?: number };
    UpdateDomain: { primary?: boolean; redirect_to?: string | null; secure_all_urls?: boolean };
    UpdateInstall: { site_id?: string | null; environment?: components['schemas']['Environment'] | null; defer_wordpress_upgrades_until?: string | null; php_version?: string };
    UpdateInstallMail: { limit_per_hour: number | null };
    UpdateNotification: { read: boolean };
    UpdateNotificationPreferences: { backups?: "default" | "immediately" | "daily" | "never"; operations?: "default" | "immediately" | "daily" | "never"; uptime?: "default" | "immediately" | "daily" | "never"; domains?: "default" | "immediately" | "daily" | "never"; certificates?: "default" | "immediately" | "daily" | "never"; usage?: "default" | "immediately" | "daily" | "never"; webhooks?: "default" | "immediately" | "daily" | "never"; finished?: "default" | "immediately" | "daily" | "never" };
    UpdateOffloadSettings: { filestore_settings: components['schemas']['FilestoreSettingsChange'] };
    UpdatePhp: { memory_limit?: string | null; upload_max_filesize?: string | null; max_execution_time?: number | null; workers?: number | null; max_input_vars?: number | null };
    UpdateProtection: { xmlrpc?: "allowed" | "blocked"; blocked_addresses?: Array<string>; noindex?: "automatic" | "on" | "off"; password?: components['schemas']['UpdateVisitorPassword'] };
    UpdateRedirect: { match?: "exact" | "prefix" | "regex"; from?: string; to?: string; status?: 301 | 302 | 307 | 308; keep_query?: boolean; position?: number };
    UpdateSite: { name?: string; sandbox?: boolean; transferable?: boolean; tags?: Array<string> };
    UpdateVisitorPassword: { enabled?: boolean; username?: string; password?: string | null; allowed_addresses?: Array<string> };
    UpdateWebhook: { url?: string; description?: string; event_types?: Array<"account.updated" | "account_user.added" | "account_user.updated" | "account_user.removed" | "site.created" | "site.updated" | "site.deleted" | "site.transferred" | "install.created" | "install.updated" | "install.active" | "install.failed" | "install.deleted" | "domain.created" | "domain.updated" | "domain.active" | "domain.failed" | "domain.verified" | "domain.unreachable" | "domain.deleted" | "certificate.issued" | "certificate.uploaded" | "certificate.failed" | "certificate.expiring" | "backup.created" | "backup.completed" | "backup.failed" | "backup.deleted" | "backup.missing" | "backup.found" | "operation.succeeded" | "operation.failed" | "operation.cancelled" | "incident.started" | "incident.ended" | "usage.limit_reached" | "webhook.disabled" | "webhook.test"> | null; install_ids?: Array<string> | null; enabled?: boolean; rotate_secret?: boolean };
    UpdateWordPressUpdatePolicy: { core?: "none" | "security" | "minor" | "all"; plugins?: "none" | "weekly" | "daily"; themes?: "none" | "weekly" | "daily"; maintenance_window?: components['schemas']['MaintenanceWindow'] | null; pages?: Array<string> };
    Uptime: { monitored: boolean; reason: string | null; state: "up" | "down" | "unknown"; since: string | null; checked_at: string | null; percentages: components['schemas']['UptimePercentages']; days: Array<components['schemas']['UptimeDay']>; incident: components['schemas']['Incident'] | null };
    UptimeDay: { date: string; percentage: number | null; down_seconds: number; observed_seconds: number };
    UptimePercentages: { last_24_hours: number | null; last_7_days: number | null; last_30_days: number | null; last_90_days: number | null };
    UsageByEnvironment: { production: string | null; staging: string | null; development: string | null };
    UsageBySiteType: { standard: string | null; transferable: string | null; sandbox: string | null };
    UsageDay: { date: string; visit_count: string | null; billable_visits: string | null; request_origin_count: string | null; network_origin_bytes: string | null; network_cdn_bytes: string | null; network_total_bytes: string | null; storage_file_bytes: string | null; storage_database_bytes: string | null; database_tables_count: string | null; database_sql_bytes: string | null; autoloaded_bytes: string | null; page_request_count: string | null; page_cache_hit_count: string | null; page_response_ms: string | null; storage_update_time: string | null; traffic_metrics_source: "ONHOST" };
    UsageInsight: { total: string | null; environment_types: components['schemas']['UsageByEnvironment']; site_types: components['schemas']['UsageBySiteType'] };
    UsageInsights: { visit_count: components['schemas']['UsageInsight']; billable_visits: components['schemas']['UsageInsight']; request_origin_count: components['schemas']['UsageInsight']; network_origin_bytes: components['schemas']['UsageInsight']; network_cdn_bytes: components['schemas']['UsageInsight']; network_total_bytes: components['schemas']['UsageInsight']; storage_file_bytes: components['schemas']['UsageInsight']; storage_database_bytes: components['schemas']['UsageInsight']; database_tables_count: components['schemas']['UsageInsight']; database_sql_bytes: components['schemas']['UsageInsight']; autoloaded_bytes: components['schemas']['UsageInsight'] };
    UsageLatest: { date: string | null; value: string | null };
    UsageMetricRollup: { average: string | null; sum: string | null; latest: components['schemas']['UsageLatest'] };
    UsageRollup: { visit_count: components['schemas']['UsageMetricRollup']; billable_visits: components['schemas']['UsageMetricRollup']; request_origin_count: components['schemas']['UsageMetricRollup']; network_origin_bytes: components['schemas']['UsageMetricRollup']; network_cdn_bytes: components['schemas']['UsageMetricRollup']; network_total_bytes: components['schemas']['UsageMetricRollup']; storage_file_bytes: components['schemas']['UsageMetricRollup']; storage_database_bytes: components['schemas']['UsageMetricRollup']; database_tables_count: components['schemas']['UsageMetricRollup']; database_sql_bytes: components['schemas']['UsageMetricRollup']; autoloaded_bytes: components['schemas']['UsageMetricRollup'] };
    User: { id: string; first_name: string; last_name: string; email: string; phone_number?: string };
    VisitorPassword: { enabled: boolean; username: string; password: string | null; allowed_addresses: Array<string> };
    Webhook: { id: string; account_id: string; url: string; description: string; event_types: Array<string> | null; install_ids: Array<string> | null; enabled: boolean; disabled_reason: string | null; previous_secret_until: string | null; created_at: string; updated_at: string };
    WebhookDelivery: { id: string; event: components['schemas']['Event']; state: "pending" | "succeeded" | "failed"; attempts: number; created_at: string; last_attempt_at: string | null; next_attempt_at: string | null; response_status: number | null; response_body: string | null; error: string | null; duration_ms: number | null };
    WebhookDeliveryPage: { previous: string | null; next: string | null; count: number; results: Array<components['schemas']['WebhookDelivery']> };
    WebhookPage: { previous: string | null; next: string | null; count: number; results: Array<components['schemas']['Webhook']> };
    WebhookWithSecret: { id: string; account_id: string; url: string; description: string; event_types: Array<string> | null; install_ids: Array<string> | null; enabled: boolean; disabled_reason: string | null; previous_secret_until: string | null; created_at: string; updated_at: string; secret?: string };
    WordPress: { core: components['schemas']['WordPressCore'] | null; plugins: Array<components['schemas']['WordPressPlugin']> | null; themes: Array<components['schemas']['WordPressTheme']> | null; administrators: Array<components['schemas']['WordPressAdministrator']> | null; site_health: components['schemas']['SiteHealth']; multisite: boolean | null; is_complete: boolean; read_at: string | null; updates_checked_at: string | null; updates_error: string | null; error: string | null };
    WordPressAdministrator: { login: string; email: string | null; display_name: string; registered_at: string | null };
    WordPressCore: { version: string; available_update: components['schemas']['WordPressUpdate'] | null };
    WordPressInstall: { id: string; name: string; environment: components['schemas']['Environment'] | null };
    WordPressPlugin: { file: string; slug: string; name: string; version: string | null; status: "active" | "inactive" | "network" | "must_use" | "dropin"; update: components['schemas']['WordPressUpdate'] | null; auto_update: boolean };
    WordPressSummary: { install: components['schemas']['WordPressInstall']; core: components['schemas']['WordPressCore'] | null; plugin_updates: number | null; theme_updates: number | null; read_at: string | null; error: string | null };
    WordPressSummaryPage: { previous: string | null; next: string | null; count: number; results: Array<components['schemas']['WordPressSummary']> };
    WordPressTheme: { stylesheet: string; name: string; version: string | null; status: "active" | "parent" | "inactive"; parent: string | null; bundled: boolean; update: components['schemas']['WordPressUpdate'] | null; auto_update: boolean };
    WordPressUpdate: { version: string };
    WordPressUpdateItem: { kind: "core" | "plugin" | "theme"; id: string; name: string; from: string; to: string };
    WordPressUpdateOperation: { install_id: string; operation_id: string };
    WordPressUpdatePolicy: { core: "none" | "security" | "minor" | "all"; plugins: "none" | "weekly" | "daily"; themes: "none" | "weekly" | "daily"; maintenance_window: components['schemas']['MaintenanceWindow'] | null; pages: Array<string>; defer_wordpress_upgrades_until: string | null };
    WordPressUpdateRun: { id: string; cause: "request" | "schedule"; status: "requested" | "running" | "succeeded" | "unnecessary" | "rolled_back" | "failed" | "cancelled"; updates: Array<components['schemas']['WordPressUpdateItem']>; rolled_back: components['schemas']['WordPressUpdateItem'] | null; reason: string | null; checkpoint_id: string | null; restored: boolean; created_at: string; finished_at: string | null };
    WordPressUpdateRunPage: { previous: string | null; next: string | null; count: number; results: Array<components['schemas']['WordPressUpdateRun']> };
  };
}
