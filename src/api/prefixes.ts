/** Where the API lives below the public URL. */
export const API_PREFIX = '/v1';

/** Where the portal's own endpoints live. */
export const PORTAL_PREFIX = '/portal/api';
