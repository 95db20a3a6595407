import { bodyMb } from '../../policy/php-limits.ts';

/** Largest upload in MiB: of installs without their own limit, and of any. */
export interface UploadMb {
  standard: number;
  most: number;
}

/** A location that hands requests to PHP, and the largest body there. */
export interface BodyLimit {
  location: string;
  megabytes: number;
}

/**
 * The limits of bodies without a length, in rising order. Only nginx sees them grow, and its limit takes no variable. So there are
 * several locations, and a request gets the first one that is large enough for its install. PHP refuses what is above the exact limit.
 */
export function bodyLimits({ standard, most }: UploadMb): BodyLimit[] {
  const limits = [{ location: '@php', megabytes: bodyMb(standard) }];
  for (let uploadMb = standard; uploadMb < most; ) {
    uploadMb = Math.min(2 * uploadMb, most);
    limits.push({ location: `@php_${uploadMb}`, megabytes: bodyMb(uploadMb) });
  }
  return limits;
}

/** For locations with an upstream: nginx would keep such a body, and no limit of uploads counts it. */
export const WITHOUT_UNANNOUNCED_BODY =
  'access_by_lua_block { require("body").discard_unannounced(ngx.var) }';
