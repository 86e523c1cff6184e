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
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY config.example.yaml ./
COPY src/bin.js ./src/bin.js
COPY src/recipes/built-in ./src/recipes/built-in
# The command has its name (`docker exec CONTAINER warmwarden status`). The store lives in the volume; the configuration
# is mounted read-only.
RUN ln -s /app/src/bin.js /usr/local/bin/warmwarden && mkdir -p /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 7025
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:7025/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["warmwarden"]
CMD ["run", "--config", "/etc/warmwarden/config.yaml"]
