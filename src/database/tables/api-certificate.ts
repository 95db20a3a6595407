/** The self-signed certificate of the API, which all processes of a platform show. */
export interface ApiCertificateRow {
  one: 1;
  /** PEM. */
  certificate: string;
  sealed_key: string;
}
