import { renderForwardedHeaders } from './forwarded-headers.ts';

/**
 * Requests to PHP. The cache key contains the whole address that PHP sees, including the port, so that no one can cache a page
 * with another address for others. HEAD becomes GET, or an empty page would be cached. Only nginx compresses.
 */
export function renderPhp(): string {
  return `fastcgi_param QUERY_STRING $query_string;
fastcgi_param REQUEST_METHOD $php_method;
fastcgi_param CONTENT_TYPE $content_type;
fastcgi_param CONTENT_LENGTH $content_length;
fastcgi_param SCRIPT_NAME $fastcgi_script_name;
fastcgi_param SCRIPT_FILENAME $document_root$fastcgi_script_name;
fastcgi_param PATH_INFO $path_info if_not_empty;
fastcgi_param REQUEST_URI $request_uri;
fastcgi_param DOCUMENT_URI $document_uri;
fastcgi_param DOCUMENT_ROOT $document_root;
fastcgi_param SERVER_PROTOCOL $server_protocol;
fastcgi_param REQUEST_SCHEME $scheme;
fastcgi_param HTTPS $https if_not_empty;
fastcgi_param GATEWAY_INTERFACE CGI/1.1;
fastcgi_param SERVER_SOFTWARE nginx;
fastcgi_param REMOTE_ADDR $remote_addr;
fastcgi_param REMOTE_PORT $remote_port;
fastcgi_param SERVER_ADDR $server_addr;
fastcgi_param SERVER_PORT $server_port;
fastcgi_param SERVER_NAME $host;
fastcgi_param REDIRECT_STATUS 200;
fastcgi_param HTTP_HOST $host$port_suffix;
${renderForwardedHeaders()}
fastcgi_param HTTP_ACCEPT_ENCODING "";

fastcgi_connect_timeout 5s;
fastcgi_read_timeout 120s;
fastcgi_buffer_size 32k;
fastcgi_buffers 16 16k;
fastcgi_max_temp_file_size 16m;
fastcgi_hide_header X-Powered-By;
fastcgi_ignore_headers X-Accel-Redirect X-Accel-Limit-Rate X-Accel-Charset;

fastcgi_cache_key $scheme://$host$port_suffix$request_uri;
fastcgi_cache_methods GET HEAD;
fastcgi_cache_valid 200 203 301 308 410 60s;
fastcgi_cache_bypass $personal_cookie $personal_path $http_authorization;
fastcgi_no_cache $personal_cookie $personal_path $http_authorization $large_answer;
fastcgi_cache_use_stale updating error timeout invalid_header http_500 http_503;
fastcgi_cache_background_update on;
fastcgi_cache_lock on;
fastcgi_cache_lock_timeout 10s;
fastcgi_cache_lock_age 10s;
`;
}
