# Built in one stage, run in another: no sources, no development tools, no root. The Node.js is the base image's own.
ARG BASE=node:24-slim
FROM $BASE AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY tools ./tools
RUN npm ci --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
RUN npm run build && npm ci --omit=dev --no-audit --no-fund

FROM $BASE
ARG BASE
ARG VERSION=0.0.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Warmwarden" \
  org.opencontainers.image.description="Guards the warm-up of email mailboxes" \
  org.opencontainers.image.licenses="MIT" \
  org.opencontainers.image.source="https://github.com/warmwarden/warmwarden" \
  org.opencontainers.image.documentation="https://github.com/warmwarden/warmwarden#readme" \
  org.opencontainers.image.version="$VERSION" \
  org.opencontainers.image.revision="$REVISION" \
  org.opencontainers.image.base.name="$BASE"
# Where there is room, V8 takes 134 MB for young objects: a quarter is enough.
ENV NODE_ENV=production NODE_OPTIONS=--max-semi-space-size=16
# Left to itself, glibc keeps what the threads of zlib and V8 gave back: 20 to 50 MB. Node.js reads a socket into 64 KB, of which it
# gives back what stays empty: from that size on, glibc maps memory that leaves no gaps between others.
ENV MALLOC_ARENA_MAX=1 MALLOC_TRIM_THRESHOLD_=131072 MALLOC_MMAP_THRESHOLD_=65536
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY config.example.yaml LICENSE ./
COPY src/bin.js ./src/bin.js
COPY src/recipes/built-in ./src/recipes/built-in
COPY src/channels/samples.json ./src/channels/samples.json
# The command has its name (`docker exec CONTAINER warmwarden status`). The configuration is mounted read-only as
# /etc/warmwarden/config.yaml; the store that it means by default, ./data/warmwarden.db beside it, lies in the volume.
RUN ln -s /app/src/bin.js /usr/local/bin/warmwarden \
  && mkdir -p /data /etc/warmwarden && ln -s /data /etc/warmwarden/data \
  && chown node:node /data && chmod 0700 /data
USER node
VOLUME /data
EXPOSE 7025
# Over the socket beside the store: it follows the configuration, whatever `server.listen` and TLS say.
# It starts a process, which takes seconds where the machine is busy.
HEALTHCHECK --interval=30s --timeout=30s --start-period=30s CMD ["warmwarden", "__alive"]
ENTRYPOINT ["warmwarden"]
CMD ["run"]
