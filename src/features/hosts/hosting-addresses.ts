import type { ListenAddress } from '../../config/config.ts';

/** The addresses on which websites and SFTP are served. */
export interface HostingAddresses {
  edgeHttp: ListenAddress;
  edgeHttps: ListenAddress;
  ssh: ListenAddress;
}
