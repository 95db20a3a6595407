/** Identifies a website. `id` never changes and names its folders; `name` is for users and log-ins. */
export interface InstallRef {
  /** UUID, lower case. */
  id: string;
  /** DNS label (docs/api.md, Installs). */
  name: string;
}
