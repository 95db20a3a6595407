# The image of Homeport (docs/container.md), built from this folder alone: `docker build --tag homeport .`
# BASE is Debian 12 or newer.
ARG BASE=debian:trixie-slim

FROM ${BASE} AS program
RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates npm
WORKDIR /build
# Changed sources do not install the packages again, and changed packages do not download the others again.
COPY package.json package-lock.json .npmrc ./
RUN --mount=type=cache,target=/root/.npm npm ci --prefer-offline
COPY . .
RUN npm run --silent generate && npm run --silent build && bin/node tools/release/stage-here.ts /homeport

FROM ${BASE}
RUN apt-get update \
 && apt-get install --yes --no-install-recommends bubblewrap ca-certificates mount tini util-linux \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/* \
 && useradd --uid 10001 --user-group --no-create-home --home-dir /var/lib/homeport --shell /usr/sbin/nologin homeport \
 && install --directory --owner homeport --group homeport /var/lib/homeport
COPY --from=program /homeport /opt/homeport
RUN ln -s /opt/homeport/homeport /opt/homeport/node_modules/node-linux-*/bin/node /usr/local/bin/
ENV HOMEPORT_DATA_DIR=/var/lib/homeport/data \
    HOMEPORT_LISTEN=0.0.0.0:8443 \
    HOMEPORT_EDGE_HTTP=0.0.0.0:8080 \
    HOMEPORT_EDGE_HTTPS=0.0.0.0:8444 \
    HOMEPORT_SSH_LISTEN=0.0.0.0:2222
USER 10001:10001
WORKDIR /var/lib/homeport
VOLUME /var/lib/homeport
EXPOSE 8443 8080 8444 2222
HEALTHCHECK --interval=30s --timeout=10s --start-period=2m CMD ["node", "/opt/homeport/deploy/container-health.mjs"]
# tini passes on signals and reaps the processes that PHP leaves.
ENTRYPOINT ["tini", "--", "homeport"]
CMD ["serve"]
