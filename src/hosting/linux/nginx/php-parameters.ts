import { renderForwardedHeaders } from './forwarded-headers.ts';

/** Variables of nginx with the facts of a visitor's request that PHP sees. */
export interface PhpRequest {
  root: string;
  script: string;
  pathInfo: string;
  documentUri: string;
  host: string;
  scheme: string;
  https: string;
  protocol: string;
  address: string;
  port: string;
  serverAddress: string;
  serverPort: string;
}

/** The request as the visitor sent it, to this edge or to another that forwards it. */
export const VISITORS_REQUEST: PhpRequest = {
  root: '$document_root',
  script: '$fastcgi_script_name',
  pathInfo: '$fastcgi_path_info',
  documentUri: '$document_uri',
  host: '$host$port_suffix',
  scheme: '$visitor_scheme',
  https: '$visitor_https',
  protocol: '$visitor_protocol',
  address: '$remote_addr',
  port: '$remote_port',
  serverAddress: '$visitor_server_addr',
  serverPort: '$visitor_server_port',
};

/** Divides a path after the script. */
export const SPLIT_PATH_INFO = 'fastcgi_split_path_info "^(.+?\\.php)(/.*)$";';

/** Pages for the cache have many waiting visitors, so they get less time than other requests. */
const PAGE_SECONDS = 120;

/** How PHP is asked. HEAD becomes GET, or an empty page would be cached. Only nginx compresses. */
export function renderPhpParameters(request: PhpRequest, withinSeconds = PAGE_SECONDS): string {
  return `fastcgi_param QUERY_STRING $query_string;
fastcgi_param REQUEST_METHOD $php_method;
fastcgi_param CONTENT_TYPE $content_type;
fastcgi_param CONTENT_LENGTH $content_length;
fastcgi_param SCRIPT_NAME ${request.script};
fastcgi_param SCRIPT_FILENAME ${request.root}${request.script};
fastcgi_param PATH_INFO ${request.pathInfo} if_not_empty;
fastcgi_param REQUEST_URI $request_uri;
fastcgi_param DOCUMENT_URI ${request.documentUri};
fastcgi_param DOCUMENT_ROOT ${request.root};
fastcgi_param SERVER_PROTOCOL ${request.protocol};
fastcgi_param REQUEST_SCHEME ${request.scheme};
fastcgi_param HTTPS ${request.https} if_not_empty;
fastcgi_param GATEWAY_INTERFACE CGI/1.1;
fastcgi_param SERVER_SOFTWARE nginx;
fastcgi_param REMOTE_ADDR ${request.address};
fastcgi_param REMOTE_PORT ${request.port};
fastcgi_param SERVER_ADDR ${request.serverAddress};
fastcgi_param SERVER_PORT ${request.serverPort};
fastcgi_param SERVER_NAME $host;
fastcgi_param REDIRECT_STATUS 200;
fastcgi_param HTTP_HOST ${request.host};
${renderForwardedHeaders(request.address)}
fastcgi_param HTTP_ACCEPT_ENCODING "";
fastcgi_connect_timeout 5s;
fastcgi_read_timeout ${withinSeconds}s;
fastcgi_buffer_size 32k;
fastcgi_buffers 16 16k;
fastcgi_max_temp_file_size 16m;
fastcgi_hide_header X-Powered-By;
fastcgi_ignore_headers X-Accel-Redirect X-Accel-Limit-Rate X-Accel-Charset;`;
}
